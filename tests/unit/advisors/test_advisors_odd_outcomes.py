"""Outcomes as broken clocks, meters and tools write them: the rest is still told, and nothing of
them reaches planners as something else."""

from __future__ import annotations

import json
from time import process_time

import pytest
from advisor_samples import BAD, DAY_MS, GOOD, HOUR_MS, NOW, Known, outcome, reflected

from dcf.advisors import html_of, markdown_of, report_of
from dcf.advisors.analysis.cause import pattern_of
from dcf.guidelines import Guidelines, Rules, publish


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
async def test_what_is_no_number_is_not_counted(odd: float) -> None:
    outcomes = [
        outcome(n, n % 3 != 0, cost_usd=odd if n % 4 == 0 else 0.1, fcs=odd, tier=1, escalated=True)
        for n in range(60, 0, -1)
    ]
    reflection = await reflected(Known(outcomes))
    published = publish(Guidelines(), reflection.insights, NOW, Rules())
    json.dumps(published.to_json(), allow_nan=False)
    page = html_of(report_of(reflection))
    assert not any(word in page for word in ("nan", "inf %", "$inf"))


@pytest.mark.parametrize("ahead", [DAY_MS, 10**15])
async def test_a_clock_that_ran_ahead_keeps_nothing_alive(ahead: int) -> None:
    outcomes = [outcome(n, n % 2 == 0, ended_at=NOW - n * HOUR_MS) for n in range(60, 0, -1)]
    outcomes.append(outcome(0, False, ended_at=NOW + ahead))
    reflection = await reflected(Known(outcomes))
    assert reflection.insights
    assert all(one.expires_at <= NOW + Rules().expiry_ms for one in reflection.insights)
    publish(Guidelines(), reflection.insights, NOW, Rules()).to_json()
    assert markdown_of(report_of(reflection))


async def test_negative_durations_and_no_names_are_reported() -> None:
    outcomes = [
        outcome(
            n, n % 2 == 0, duration_ms=-5_000, skills=((GOOD, BAD)[n % 2],), task_type="", state=""
        )
        for n in range(60, 0, -1)
    ]
    assert html_of(report_of(await reflected(Known(outcomes))))


@pytest.mark.parametrize("cause", ["a1-" * 100_000, "1.1,1:" * 50_000, "a.a+a-" * 50_000])
def test_a_long_cause_costs_little(cause: str) -> None:
    begun = process_time()
    assert len(pattern_of(cause)) <= 161
    assert process_time() - begun < 0.5
