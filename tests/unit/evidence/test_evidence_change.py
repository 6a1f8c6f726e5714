"""Changes of a rate: found soon, seldom imagined, and what they leave of the evidence."""

from __future__ import annotations

from math import factorial, lgamma
from random import Random

import pytest

from dcf.evidence import NOTHING, RUN_LENGTH, Watch, change, record_from, record_of

DAY_MS = 86_400_000


def _beta(a: int, b: int) -> float:
    return factorial(a - 1) * factorial(b - 1) / factorial(a + b - 1)


def _watched(outcomes: list[int], run_length: float = RUN_LENGTH) -> Watch:
    watch = Watch(run_length)
    for at, ok in enumerate(outcomes):
        watch.add(at, ok, 1 - ok)
    return watch


@pytest.mark.parametrize(
    ("first", "second"), [((3, 1), (2, 8)), ((5, 1), (3, 6)), ((1, 14), (6, 2))]
)
def test_the_belief_has_the_mean_of_all_that_may_have_happened(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    # Two times only, so that the mixture can be written down: the change was after the first, whose
    # outcomes it stands for, or there was none.
    watch = Watch(change_in=20)
    watch.add(0, *first)
    watch.add(1, *second)
    won, lost = first[0] + second[0], first[1] + second[1]
    factor = _beta(1 + first[0], 1 + first[1]) * _beta(1 + second[0], 1 + second[1])
    factor *= sum(first) / _beta(1 + won, 1 + lost)
    possible = [(20.0, won, lost), (factor, *second)]
    total = sum(weight for weight, _, _ in possible)
    mean = sum(weight * (1 + s) / (2 + s + f) for weight, s, f in possible) / total
    square = (
        sum(w * (1 + s) * (2 + s) / ((2 + s + f) * (3 + s + f)) for w, s, f in possible) / total
    )
    belief = watch.belief()
    assert belief.mean == pytest.approx(mean)
    assert belief.deviation == pytest.approx((square - mean**2) ** 0.5)


@pytest.mark.parametrize("failures", range(8))
def test_a_few_failures_in_a_row_are_no_change(failures: int) -> None:
    watch = Watch()
    watch.add(0, 60, 0)
    watch.add(1, 0, failures)
    belief = watch.belief()
    assert belief.mean == pytest.approx(61 / (62 + failures))


def test_what_is_suspected_shows_in_the_belief_before_it_is_certain() -> None:
    random, watch = Random(5), Watch()
    for at in range(100):
        ok = random.random() < 0.9
        watch.add(at, int(ok), int(not ok))
    noticed = []
    for at in range(100, 160):
        ok = random.random() < 0.5
        if watch.add(at, int(ok), int(not ok)):
            break
        record = record_from(watch, now=at, half_life_ms=None)
        assert record.steady.mean == pytest.approx((1 + watch.successes) / (3 + at))
        noticed.append(record.steady.mean - record.posterior.mean)
    assert noticed[-1] > 0.1, "the alarm comes after the doubt"
    after = record_from(watch, now=160, half_life_ms=None)
    assert after.steady.mean < 0.65


@pytest.mark.parametrize("rate", [0.05, 0.5, 0.75, 0.9, 0.99])
def test_false_alarms_are_as_rare_as_is_said(rate: float) -> None:
    random, alarms, n = Random(7), 0, 20_000
    watch = Watch()
    for at in range(n):
        ok = random.random() < rate
        alarms += watch.add(at, int(ok), int(not ok))
    # On the mean over all rates at most one in 2,000; at the worst rate some more.
    assert alarms <= 1.5 * n / 2_000


@pytest.mark.parametrize("before", [60, 500, 5_000])
def test_a_fall_is_noticed_within_a_few_dozen_outcomes(before: int) -> None:
    delays = []
    for seed in range(20):
        random, watch = Random(seed), Watch()
        for at in range(before):
            ok = random.random() < 0.9
            watch.add(at, int(ok), int(not ok))
        for delay in range(1, 500):
            ok = random.random() < 0.5
            if watch.add(before + delay, int(ok), int(not ok)):
                break
        delays.append(delay)
        assert watch.changed_at is not None
    assert sorted(delays)[10] <= 40


def test_evidence_from_before_a_change_counts_nothing() -> None:
    watch = _watched([1] * 100 + [0] * 20)
    assert watch.changed_at is not None
    assert 96 <= watch.changed_at <= 100
    record = record_from(watch, now=120, half_life_ms=None)
    assert record.successes < 2
    assert record.failures > 15
    assert record.n == 120


def test_memory_grows_with_the_logarithm() -> None:
    random, watch = Random(3), Watch(run_length=1e12)
    for at in range(20_000):
        ok = random.random() < 0.7
        watch.add(at, int(ok), int(not ok))
    assert watch.changed_at is None
    assert len(watch.tallies) < 70
    assert sum(tally.size for tally in watch.tallies) == watch.successes + watch.failures == 20_000


def test_outcomes_of_a_day_together_are_seen_as_well() -> None:
    days = [(day * DAY_MS, 9, 1) for day in range(20)]
    days += [(day * DAY_MS, 5, 5) for day in range(20, 26)]
    record = record_of(days, now=26 * DAY_MS, half_life_ms=None)
    assert record.changed_at == 20 * DAY_MS
    assert record.rate == pytest.approx(0.5, abs=0.05)


def test_old_evidence_fades() -> None:
    fresh = record_of([(0, 30, 10)], now=0, half_life_ms=DAY_MS)
    old = record_of([(0, 30, 10)], now=2 * DAY_MS, half_life_ms=DAY_MS)
    assert old.weight == pytest.approx(fresh.weight / 4)
    assert old.rate == pytest.approx(fresh.rate)
    assert old.n == fresh.n == 40


def test_nothing_leaves_nothing() -> None:
    assert record_of([], now=5) == NOTHING
    assert record_of([(1, 0, 0)], now=5) == NOTHING
    assert NOTHING.rate is None
    assert NOTHING.posterior.mean == 0.5


def test_two_threads_may_watch_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    other = []

    def interrupted(x: int) -> float:
        # Another thread comes when the first number of ours is looked for, and is done before us.
        if not other:
            other.append(x)
            _watched([1, 0] * 20)
        return lgamma(x)

    monkeypatch.setattr(change, "_TABLE", change._TABLE[:1])
    monkeypatch.setattr(change, "lgamma", interrupted)
    _watched([1, 0] * 30)
    assert other
    assert change._TABLE[1:] == [lgamma(x) for x in range(1, len(change._TABLE))]
