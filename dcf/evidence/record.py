"""What has been measured of one version of a skill for one type of task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from dcf.evidence.beta import Beta
from dcf.evidence.change import RUN_LENGTH, Watch

HALF_LIFE_MS = 90 * 86_400_000
"""After so long an outcome counts half: what is not tried again becomes uncertain again."""


@dataclass(frozen=True, slots=True)
class Record:
    """``successes`` and ``failures`` are weights: outcomes count less the older they are and the
    less certain it is that the rate has not changed since, and those from before a change that was
    detected count nothing. ``n`` is how many outcomes there were in all; ``last_at`` when the last
    one ended, ``failed_at`` when the last failure did, as far as that is known, and ``changed_at``
    when the change was (ms since the epoch). ``mean_ms`` is how long an outcome took.
    ``steady_successes`` and ``steady_failures`` are the weights if nothing has changed since
    ``changed_at``; None where they are the others.
    """

    successes: float = 0.0
    failures: float = 0.0
    n: int = 0
    last_at: int | None = None
    changed_at: int | None = None
    failed_at: int | None = None
    mean_ms: float | None = None
    steady_successes: float | None = None
    steady_failures: float | None = None

    @property
    def weight(self) -> float:
        """How many outcomes of today this record is worth."""
        return self.successes + self.failures

    @property
    def rate(self) -> float | None:
        """The share of successes; None if nothing counts."""
        return self.successes / self.weight if self.weight > 0 else None

    @property
    def posterior(self) -> Beta:
        """What is believed of the success probability, from a uniform prior."""
        return Beta(1 + self.successes, 1 + self.failures)

    @property
    def steady(self) -> Beta:
        """The posterior if nothing has changed since ``changed_at``."""
        if self.steady_successes is None or self.steady_failures is None:
            return self.posterior
        return Beta(1 + self.steady_successes, 1 + self.steady_failures)

    def told(self, believed: Beta | None = None) -> str:
        """What was measured, in words: ``tried 41 times, 93% right (82% to 97%), 2.1 s, last
        failure on 2026-11-17``. The interval is the central 95 % of what is ``believed``, the
        posterior if None; the day is that of UTC."""
        if self.rate is None:
            return "never measured"
        low, high = (believed or self.posterior).interval()
        parts = [
            f"tried {self.n:,} times" if self.n != 1 else "tried once",
            f"{self.rate:.0%} right ({low:.0%} to {high:.0%})",
        ]
        if self.weight <= 0.9 * self.n:
            parts[0] += f", which count as {self.weight:.0f}"
        if self.mean_ms is not None:
            parts.append(_duration(self.mean_ms))
        if self.failed_at is not None:
            parts.append(f"last failure on {datetime.fromtimestamp(self.failed_at / 1000, UTC):%F}")
        return ", ".join(parts)


def _duration(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:,.1f} s"


NOTHING = Record()
"""The record of what was never tried."""


def record_from(watch: Watch, *, now: int, half_life_ms: int | None = HALF_LIFE_MS) -> Record:
    """What ``watch`` has seen, as it counts at ``now`` (ms); with None outcomes do not age."""
    if not watch.tallies:
        return NOTHING
    belief = watch.belief()
    fresh = 1.0
    if half_life_ms is not None:
        ages = ((tally.size, max(0, now - tally.at)) for tally in watch.tallies)
        weight = sum(size * 0.5 ** (age / half_life_ms) for size, age in ages)
        fresh = weight / (watch.successes + watch.failures)
    return Record(
        successes=fresh * max(0.0, belief.a - 1),
        failures=fresh * max(0.0, belief.b - 1),
        n=watch.n,
        last_at=watch.last_at,
        changed_at=watch.changed_at,
        steady_successes=fresh * watch.successes,
        steady_failures=fresh * watch.failures,
    )


def record_of(
    outcomes: Iterable[tuple[int, int, int]],
    *,
    now: int,
    half_life_ms: int | None = HALF_LIFE_MS,
    run_length: float = RUN_LENGTH,
) -> Record:
    """The record of outcomes in the order of time: each ``(at, successes, failures)`` is one, or
    those of an hour or a day together. ``run_length`` is that of ``Watch``."""
    watch = Watch(run_length)
    for at, successes, failures in outcomes:
        watch.add(at, successes, failures)
    return record_from(watch, now=now, half_life_ms=half_life_ms)
