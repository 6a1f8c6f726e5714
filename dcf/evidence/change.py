"""Whether a success rate has changed, and since when: evidence that forgets what no longer holds.

Outcomes are held against every time at which their rate may have changed. For a change after the
first s of t outcomes the Bayes factor is

    BF_s = B(1 + S1, 1 + F1) * B(1 + S2, 1 + F2) / B(1 + S, 1 + F)

(S, F: successes and failures in all; 1 and 2: before and after; B: the beta function; uniform
priors, so that B(1, 1) = 1). Their sum over s is the Shiryaev-Roberts statistic. While nothing
changes its expectation is t at most, hence an alarm at the sum A comes on average at most once in A
outcomes (Pollak, Annals of Statistics 13, 1985). If one in A outcomes brings a change, A is also
where a change is as probable as none. Before that, ``belief`` weighs all the possibilities: the
less certain it is that nothing has changed, the less the older outcomes say.

Older outcomes are kept in tallies of doubling size (an exponential histogram, as in Bifet and
Gavalda, Learning from Time-Changing Data with Adaptive Windowing, 2007), so that memory and the
cost of an outcome grow with the logarithm of t only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import exp, log

from dcf.evidence.beta import Beta, log_beta

RUN_LENGTH = 1_000
"""Outcomes between two false alarms, on average, at least."""

_ALIKE = 4
"""Tallies of one size that are kept before the two oldest become one."""
_EACH = 64
"""Up to so many outcomes, changes are looked for after each of them; then after each eighth."""
_EIGHTH = 8


@dataclass(slots=True)
class Tally:
    """Outcomes that followed each other; ``at`` is when the first of them ended (ms)."""

    at: int
    successes: float
    failures: float

    @property
    def size(self) -> float:
        return self.successes + self.failures


@dataclass(slots=True)
class Watch:
    """Outcomes since the last change that was detected. ``run_length`` is how many outcomes there
    are on average between two false alarms, at least; ``n`` counts all outcomes, forgotten ones
    too."""

    run_length: float = RUN_LENGTH
    n: int = 0
    last_at: int | None = None
    changed_at: int | None = None
    successes: float = 0.0
    failures: float = 0.0
    tallies: list[Tally] = field(default_factory=list)
    _unwatched: float = 0.0

    def add(self, at: int, successes: int, failures: int) -> bool:
        """Take in outcomes that ended from ``at`` (ms) on, in the order of time; True if with them
        a change shows, and what came before it counts no longer."""
        if successes + failures == 0:
            return False
        self.n += successes + failures
        self.last_at = at if self.last_at is None else max(at, self.last_at)
        self.successes += successes
        self.failures += failures
        self.tallies.append(Tally(at, successes, failures))
        self._thin()
        self._unwatched += successes + failures
        if self.successes + self.failures > _EACH and self._unwatched < _EIGHTH:
            return False
        self._unwatched = 0.0
        border = self._border()
        if border is not None:
            self._forget(border)
        return border is not None

    def belief(self) -> Beta:
        """What is believed of the rate now: the Beta with the mean and variance of the mixture of
        all possibilities, that nothing changed and that it did after any of the tallies."""
        stable = Beta(1 + self.successes, 1 + self.failures)
        weighed = [(log(self.run_length), stable)]
        weighed += [(weight, after) for weight, after, _ in self._possible()]
        highest = max(weight for weight, _ in weighed)
        total = mean = square = 0.0
        for weight, rate in weighed:
            share = exp(weight - highest)
            total += share
            mean += share * rate.mean
            square += share * (rate.deviation**2 + rate.mean**2)
        mean /= total
        variance = square / total - mean**2
        sharpness = mean * (1 - mean) / variance - 1
        return Beta(mean * sharpness, (1 - mean) * sharpness)

    def _border(self) -> int | None:
        """The index of the first tally after the change; None if there is none."""
        possible = list(self._possible())
        if not possible:
            return None
        highest = max(weight for weight, _, _ in possible)
        statistic = highest + log(sum(exp(weight - highest) for weight, _, _ in possible))
        if statistic < log(self.run_length):
            return None
        return max(possible, key=lambda one: one[0])[2]

    def _possible(self) -> Iterator[tuple[float, Beta, int]]:
        """For a change after each tally but the last: the logarithm of its Bayes factor times the
        outcomes that it stands for, the rate after it, and the index of the tally after it."""
        whole = log_beta(1 + self.successes, 1 + self.failures)
        successes = failures = 0.0
        for index, tally in enumerate(self.tallies[:-1]):
            successes += tally.successes
            failures += tally.failures
            after = Beta(1 + self.successes - successes, 1 + self.failures - failures)
            factor = log_beta(1 + successes, 1 + failures) + log_beta(after.a, after.b) - whole
            yield factor + log(tally.size), after, index + 1

    def _forget(self, border: int) -> None:
        self.tallies = self.tallies[border:]
        self.changed_at = self.tallies[0].at
        self.successes = sum(tally.successes for tally in self.tallies)
        self.failures = sum(tally.failures for tally in self.tallies)

    def _thin(self) -> None:
        """Join the two oldest tallies of about a size when there are too many of them; what comes
        of it may be one too many of the next size."""
        end = len(self.tallies)
        while True:
            level, start = _level(self.tallies[end - 1]), end - 1
            while start > 0 and _level(self.tallies[start - 1]) == level:
                start -= 1
            if end - start <= _ALIKE:
                return
            older, newer = self.tallies[start], self.tallies.pop(start + 1)
            older.successes += newer.successes
            older.failures += newer.failures
            end = start + 1


def _level(tally: Tally) -> int:
    return int(tally.size).bit_length()
