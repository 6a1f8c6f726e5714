"""A reflection on the run of an exported file, beside what is known of others."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from unit.advisors.advisor_samples import HOUR_MS, NOW, Known, outcome

from dcf.advisors import reflect_on_file
from dcf.advisors.reflector.source import WithRun
from dcf.knowledge import Outcome, RunFact, ToldRun

SINCE = NOW - 168 * HOUR_MS


def told(*outcomes: Outcome, run: str = "run-0", started_at: int = NOW - HOUR_MS) -> ToldRun:
    """The run of a file."""
    end = RunFact(
        run=run, redrives=0, workflow_id=run, workflow_name="shop", version=None, digest="d",
        status="succeeded", started_at=started_at, ended_at=NOW, duration_ms=NOW - started_at,
        states={}, cost_usd=0.0, tokens=0, error=None, cause=None,
    )  # fmt: skip
    return ToldRun(end, outcomes)


@given(
    known=st.lists(st.integers(1, 40), unique=True, max_size=8),
    own=st.lists(st.integers(0, 40), max_size=4).map(sorted),
    since=st.none() | st.integers(0, 40),
)
@example(known=[7], own=[7], since=None)
@settings(deadline=None)
async def test_what_is_known_and_what_the_file_tells_come_in_the_order_of_time_and_once(
    known: list[int], own: list[int], since: int | None
) -> None:
    at = None if since is None else NOW - since * HOUR_MS
    mine = [
        outcome(7, ended_at=NOW - hours * HOUR_MS, visit=visit)
        for visit, hours in enumerate(reversed(own), 1)
    ]
    others = [outcome(number) for number in known]
    run = told(*mine, run="run-7")
    found = [one async for one in WithRun(run, Known(others)).outcomes(since=at)]
    expected = [one for one in others if one.run != "run-7"] + mine
    expected = [one for one in expected if at is None or one.ended_at >= at]
    assert sorted(one.id for one in found) == sorted(one.id for one in expected)
    assert [one.ended_at for one in found] == sorted(one.ended_at for one in found)


async def test_a_file_is_analysed_beside_others_and_nothing_of_it_is_published() -> None:
    others = Known(outcome(number, number % 3 > 0) for number in range(1, 41))
    run = told(outcome(0, ok=False, ended_at=NOW - 5))
    beside = await reflect_on_file(run, others, since=SINCE, now=NOW)
    assert (beside.analysis.outcomes, beside.published, beside.guidelines) == (41, (), None)
    assert beside.insights


async def test_without_a_graph_the_run_is_analysed_alone_however_long_ago_it_ended() -> None:
    long_ago = NOW - 1_000 * HOUR_MS
    run = told(outcome(0, ended_at=long_ago + 1_000), started_at=long_ago)
    alone = await reflect_on_file(run, None, since=SINCE, now=NOW)
    assert (alone.analysis.outcomes, alone.analysis.since) == (1, long_ago)
