"""What is different from the time before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.advisors.analysis.track import TrackRecord
from dcf.evidence import MIN_SAMPLES, SIGNIFICANT, Comparison, compare, holm, mann_whitney


@dataclass(frozen=True, slots=True)
class Drift:
    """The period held against the time before it: ``rate`` compares successes, ``duration_ratio``
    is the median duration of successes over the one before (None: too few on a side).
    ``rate_changed`` and ``duration_changed`` are by tests that allow for how many were made."""

    record: TrackRecord
    rate: Comparison
    duration_ratio: float | None
    rate_changed: bool
    duration_changed: bool


def drifts(records: Sequence[TrackRecord]) -> tuple[Drift, ...]:
    """Of each of ``records`` that has outcomes in the period and before it."""
    both = [record for record in records if record.counts.n and record.before.n]
    rates = [compare(record.counts, record.before) for record in both]
    times = [mann_whitney(record.durations_ms, record.durations_before_ms) for record in both]
    rate_values = holm([rate.p_value for rate in rates])
    time_values = holm(times)
    return tuple(
        Drift(
            record=record,
            rate=rate,
            duration_ratio=_ratio(record),
            rate_changed=rate.significant and rate_value < SIGNIFICANT,
            duration_changed=_ratio(record) is not None and time_value < SIGNIFICANT,
        )
        for record, rate, rate_value, time_value in zip(
            both, rates, rate_values, time_values, strict=True
        )
    )


def _ratio(record: TrackRecord) -> float | None:
    now, before = record.duration_ms, record.duration_before_ms
    if now is None or before is None or min(now.n, before.n) < MIN_SAMPLES or before.p50 <= 0:
        return None
    return now.p50 / before.p50
