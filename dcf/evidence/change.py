"""Whether a success rate has changed, and since when: evidence that forgets what no longer holds.

Outcomes are held against every time at which their rate may have changed. For a change after the
first s of t outcomes the Bayes factor is

    BF_s = B(1 + S1, 1 + F1) * B(1 + S2, 1 + F2) / B(1 + S, 1 + F)

(S, F: successes and failures in all; 1 and 2: before and after; B: the beta function; uniform
priors, so that B(1, 1) = 1). Their sum over s is the Shiryaev-Roberts statistic. While nothing
changes, its expectation averaged over all rates is t - 1 (at one rate it may be more: some 1.3 t
at 0.5), hence an alarm at the sum A comes on average over rates at most once in A outcomes (after
Pollak, Annals of Statistics 13, 1985).

Before that, ``belief`` weighs all the possibilities, as if one outcome in H brought a change (the
mixture over run lengths of Adams and MacKay, Bayesian Online Changepoint Detection, 2007, from
the last alarm on): the less certain it is that nothing has changed, the less the older outcomes
say. With that prior the odds of a change are the sum over H: the alarm comes at A / H to 1.

A change is held to be possible only when some outcomes have followed it: one or two failures in a
row are nearly always chance, and to follow them costs more advice than it saves.

Older outcomes are kept in tallies of doubling size (an exponential histogram, as in Bifet and
Gavalda, Learning from Time-Changing Data with Adaptive Windowing, 2007), so that memory and the
cost of an outcome grow with the logarithm of t only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, lgamma, log
from typing import NamedTuple

from dcf.evidence.beta import Beta, log_beta

RUN_LENGTH = 2_000
"""Outcomes between two false alarms, on average, at least (A)."""
CHANGE_IN = 100
"""``belief`` expects a change in so many outcomes (H): an alarm comes at odds of 20 to 1."""
_AFTER = 8
"""So many outcomes have followed what may have been a change."""

_ALIKE = 4
"""Tallies of one size that are kept before the two oldest become one."""
_EACH = 256
"""Up to so many outcomes, changes are looked for after each of them; then after each eighth."""
_EIGHTH = 8
_ROUNDING = 1e-6
_TABLED = 2**16
"""Below so many outcomes, ln of the gamma function stands in a table (of some 4 MB then)."""


@dataclass(slots=True)
class Tally:
    """Outcomes that followed each other; ``at`` is when the first of them ended (ms)."""

    at: int
    successes: int
    failures: int

    @property
    def size(self) -> int:
        return self.successes + self.failures


class Border(NamedTuple):
    """The end of a tally, and what a Bayes factor takes from the side before it, which stays the
    same however many outcomes follow: ``successes`` and ``failures`` are all of those before it,
    ``n`` their sum, ``log_beta`` is ln B(1 + successes, 1 + failures), ``log_size`` ln of the
    outcomes in the tally, ``level`` the number of bits of that size."""

    successes: int
    failures: int
    n: int
    log_beta: float
    log_size: float
    level: int


@dataclass(slots=True)
class Watch:
    """Outcomes since the last change that was detected. ``run_length`` is how many outcomes there
    are on average between two false alarms, at least; ``change_in`` in how many of them a change
    is expected. ``n`` counts all outcomes, forgotten ones too."""

    run_length: float = RUN_LENGTH
    change_in: float = CHANGE_IN
    n: int = 0
    last_at: int | None = None
    changed_at: int | None = None
    successes: int = 0
    failures: int = 0
    tallies: list[Tally] = field(default_factory=list)
    _borders: list[Border] = field(default_factory=list)
    _unwatched: int = 0

    def add(self, at: int, successes: int, failures: int) -> bool:
        """Take in outcomes that ended from ``at`` (ms) on, in the order of time; True if with them
        a change shows, and what came before it counts no longer."""
        if successes + failures == 0:
            return False
        self.n += successes + failures
        self.last_at = at if self.last_at is None else max(at, self.last_at)
        self._append(Tally(at, successes, failures))
        self._thin()
        self._unwatched += successes + failures
        if self.successes + self.failures > _EACH and self._unwatched < _EIGHTH:
            return False
        self._unwatched = 0
        change = self._change()
        if change is not None:
            self._forget(change)
        return change is not None

    @property
    def steady(self) -> Beta:
        """What is believed of the rate if it has not changed since the last alarm."""
        return Beta(1 + self.successes, 1 + self.failures)

    def belief(self) -> Beta:
        """What is believed of the rate now: the Beta with the mean and variance of the mixture of
        all possibilities, that nothing changed and that it did after any of the tallies."""
        weighed = [(log(self.change_in), self.steady)]
        weighed += [
            (weight, Beta(1 + self.successes - end.successes, 1 + self.failures - end.failures))
            for weight, end in zip(self._weights(), self._borders, strict=False)
        ]
        highest = max(weight for weight, _ in weighed)
        shares = [(exp(weight - highest), rate) for weight, rate in weighed]
        total = sum(share for share, _ in shares)
        mean = sum(share * rate.mean for share, rate in shares) / total
        # Around the mean: of very many outcomes, the difference of squares would be all rounding.
        spread = sum(
            share * (rate.deviation**2 + (rate.mean - mean) ** 2) for share, rate in shares
        )
        sharpness = mean * (1 - mean) * total / spread - 1
        return Beta(mean * sharpness, (1 - mean) * sharpness)

    def _change(self) -> int | None:
        """The index of the first tally after the change; None if there is none."""
        weights = self._weights()
        if not weights:
            return None
        highest, needed = max(weights), log(self.run_length)
        if highest < needed:
            if highest + log(len(weights)) < needed - _ROUNDING:
                # Even if all of them were as probable as that.
                return None
            if highest + log(sum([exp(weight - highest) for weight in weights])) < needed:
                return None
        return weights.index(highest) + 1

    def _weights(self) -> list[float]:
        """For a change after each tally that enough outcomes have followed: the logarithm of its
        Bayes factor times the outcomes that it stands for."""
        a, b = 1 + self.successes, 1 + self.failures
        n, whole = a + b, log_beta(a, b)
        latest = self.successes + self.failures - _AFTER
        # Most of the time of a watch is spent here: hence ln B is written out, and looked up.
        g = _log_gammas(n)
        return [
            before + (g[a - won] + g[b - lost] - g[n - m]) - whole + log_size
            for won, lost, m, before, log_size, _ in self._borders
            if m <= latest
        ]

    def _append(self, tally: Tally) -> None:
        self.successes += tally.successes
        self.failures += tally.failures
        self.tallies.append(tally)
        n, size = self.successes + self.failures, tally.size
        before = log_beta(1 + self.successes, 1 + self.failures)
        self._borders.append(
            Border(self.successes, self.failures, n, before, log(size), size.bit_length())
        )

    def _forget(self, first: int) -> None:
        kept = self.tallies[first:]
        self.changed_at = kept[0].at
        self.successes = self.failures = 0
        self.tallies, self._borders = [], []
        for tally in kept:
            self._append(tally)

    def _thin(self) -> None:
        """Join the two oldest tallies of about a size when there are too many of them; what comes
        of it may be one too many of the next size."""
        borders, end = self._borders, len(self.tallies)
        while True:
            level, start = borders[end - 1].level, end - 1
            while start > 0 and borders[start - 1].level == level:
                start -= 1
            if end - start <= _ALIKE:
                return
            older, newer = self.tallies[start], self.tallies.pop(start + 1)
            older.successes += newer.successes
            older.failures += newer.failures
            del borders[start]
            size = older.size
            borders[start] = Border(*borders[start][:4], log(size), size.bit_length())
            end = start + 1


class _Computed:
    """ln of the gamma function, as if it stood in a list."""

    def __getitem__(self, x: int) -> float:
        return lgamma(x)


_TABLE = [inf]


def _log_gammas(most: int) -> list[float] | _Computed:
    """ln of the gamma function of 0, 1, 2 ... up to ``most`` at least."""
    global _TABLE
    if most >= _TABLED:
        return _Computed()
    table = _TABLE
    if len(table) <= most:
        # Another one, never the same made longer: two threads may do so at the same time.
        table = [*table, *map(lgamma, range(len(table), 2 * most))]
        _TABLE = table
    return table
