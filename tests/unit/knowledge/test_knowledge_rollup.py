"""What the graph keeps of outcomes, as evidence: in the order of time, as finely as it is kept."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.evidence import record_from, record_of
from dcf.knowledge.rollup import DAY_MS, watch_of

NOW = 30 * DAY_MS


def codes(outcomes: list[tuple[int, int]]) -> list[int]:
    return [2 * at + ok for at, ok in outcomes]


def days_of(outcomes: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    found: dict[int, tuple[int, int, int]] = {}
    for at, ok in outcomes:
        last, won, n = found.get(at // DAY_MS, (0, 0, 0))
        found[at // DAY_MS] = (max(last, at), won + ok, n + 1)
    return list(found.values())


def test_a_fall_within_a_day_is_seen() -> None:
    # Nine of ten for 120 outcomes, then five of ten, a minute apart; 96 and 128 are kept singly.
    fall = [(n * 60_000, int(n % 10 != 0)) for n in range(120)]
    fall += [(n * 60_000, n % 2) for n in range(120, 240)]
    one_by_one = record_of(((at, ok, 1 - ok) for at, ok in fall), now=NOW)
    blurred = record_from(watch_of(days_of(fall), []), now=NOW)
    assert (blurred.changed_at, blurred.rate) == (None, pytest.approx(0.7, abs=0.01))
    for kept in (96, 128):
        record = record_from(watch_of(days_of(fall), codes(fall)[-kept:]), now=NOW)
        assert record.rate == pytest.approx(one_by_one.rate, abs=0.03)
        assert record.weight < 130
        assert record.changed_at is not None
        assert record.n == 240


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(0, 90), st.sampled_from([7, 300, 5_000]))
def test_nothing_is_counted_twice_or_lost(seed: int, kept: int, minutes: int) -> None:
    random = Random(seed)
    outcomes = sorted(
        (random.randrange(minutes * 60_000), int(random.random() < 0.7)) for _ in range(60)
    )
    watch = watch_of(days_of(outcomes), codes(outcomes)[-kept:] if kept else [])
    assert watch.n == 60
    if kept >= 60:
        single = record_of(((at, ok, 1 - ok) for at, ok in outcomes), now=NOW)
        assert record_from(watch, now=NOW) == single


def test_newest_outcomes_of_days_that_are_not_asked_for_are_left_out() -> None:
    outcomes = [(day * DAY_MS + 5, day % 2) for day in range(10)]
    late = [one for one in outcomes if one[0] >= 7 * DAY_MS]
    watch = watch_of(days_of(late), codes(outcomes))
    assert (watch.n, watch.successes, watch.failures) == (3, 2, 1)


def test_where_none_is_kept_singly_days_are_what_there_is() -> None:
    days = [(day * DAY_MS, 9, 10) for day in range(20)] + [(20 * DAY_MS, 1, 10)]
    record = record_from(watch_of(days, []), now=NOW)
    assert record == record_of([(at, ok, n - ok) for at, ok, n in days], now=NOW)
    assert record.changed_at == 20 * DAY_MS
