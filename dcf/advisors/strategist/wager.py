"""Tests that may be looked at again and again: evidence as the winnings of a bet.

An analysis runs every few tasks, and whoever looks often enough at a p-value of fixed samples finds
something. So evidence is counted as an e-process (Ramdas, Gruenwald, Vovk and Shafer, Statistical
Science 38, 2023): a capital of 1 is staked against a hypothesis, outcome by outcome, at odds that
are fair if the hypothesis is true. Its expectation then never grows, and the probability that it
*ever* reaches 1 / a is at most a (Ville 1939), whenever and however often it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, lgamma, log, sqrt

from dcf.evidence import Beta, Counts, fisher_exact

_LARGEST = 700.0
"""More would be no float; nobody asks."""
_SMALLEST = 1e-300
_ODDS = (2.0, 4.0, 8.0, 16.0)
"""Ratios of odds that are bet on: as 0.9 and 0.8, 0.9 and 0.7, 0.9 and 0.53, 0.9 and 0.36."""
_RATES = (1.5, 2.0, 3.0, 5.0, 8.0)
"""Ratios of the rates at which work ends."""
_MORE = (1.25, 1.5, 2.0, 3.0, 5.0)
"""Loads that are bet on, as multiples of what the hypothesis allows; their inverses for less."""


def share_above(hits: int, misses: int, limit: float) -> float:
    """The evidence against "each of these outcomes is a hit with at most probability ``limit``".

    The stake is spread evenly over all probabilities p above the limit; each grows by p / limit
    with a hit and by (1 - p) / (1 - limit) with a miss:

        E = integral over p from limit to 1 of p^h (1 - p)^m / (limit^h (1 - limit)^m) / (1 - limit)
    """
    beyond = 1 - Beta(1 + hits, 1 + misses).cdf(limit)
    if beyond <= 0:
        return 0.0
    whole = lgamma(1 + hits) + lgamma(1 + misses) - lgamma(2 + hits + misses)
    fair = hits * log(limit) + misses * log(1 - limit)
    return exp(min(_LARGEST, whole + log(beyond) - fair - log(1 - limit)))


def succeeds_more(blocks: Sequence[tuple[int, int, int]]) -> float:
    """The evidence against "one side succeeds no more often than the other".

    Each block is (1 if the one succeeded else 0, how many of the others succeeded, how many others
    there are). If a is what is bet for the one, b for the m others, and c = (a + m b) / (1 + m),
    the capital grows by

        a^y (1 - a)^(1 - y) b^z (1 - b)^(m - z) / (c^(y + z) (1 - c)^(1 + m - y - z)),

    which is fair whatever rate both have in common (Turner, Ly and Gruenwald, Generic E-variables
    for exact sequential k-sample tests, 2021). b is what the others came to so far, and a the rate
    whose odds are so many times as large; the stake is spread over several such ratios.
    """
    return _blocks(blocks, _ODDS)


def succeeds_less(blocks: Sequence[tuple[int, int, int]]) -> float:
    """The evidence against "no less often"."""
    return _blocks(blocks, [1 / odds for odds in _ODDS])


def _blocks(blocks: Sequence[tuple[int, int, int]], ratios: Sequence[float]) -> float:
    logs = [0.0] * len(ratios)
    won = lost = 1.0
    for own, others, size in blocks:
        theirs = won / (won + lost)
        for index, ratio in enumerate(ratios):
            mine = ratio * theirs / (ratio * theirs + 1 - theirs)
            both = (mine + size * theirs) / (1 + size)
            logs[index] += log(mine if own else 1 - mine)
            logs[index] += others * log(theirs) + (size - others) * log(1 - theirs)
            logs[index] -= (own + others) * log(both)
            logs[index] -= (1 + size - own - others) * log(1 - both)
        won, lost = won + others, lost + size - others
    return _mean(logs)


def quicker(ranks: Iterable[tuple[int, int]]) -> float:
    """The evidence against "one side is no quicker than the other".

    Each is (how many of the others were as quick or quicker, how many others there are). Without a
    difference all places are equally probable; bet is that the one ends at a rate that is h times
    that of the others, at any moment (Lehmann, Annals of Mathematical Statistics 24, 1953): then

        P(place k of m + 1) = h / (h + m - k) * product over j < k of (m - j) / (m - j + h).
    """
    logs = [0.0] * len(_RATES)
    for place, size in ranks:
        for index, rate in enumerate(_RATES):
            logs[index] += log((size + 1) * rate / (rate + size - place))
            logs[index] += sum(log((size - j) / (size - j + rate)) for j in range(place))
    return _mean(logs)


def load_above(events: Iterable[tuple[bool, int]], pool: int, limit: float) -> float:
    """The evidence against "work arrives at most ``limit`` times as fast as ``pool`` companions,
    all at work, would do it".

    ``events`` are arrivals (True) and ends of work (False), each with how many were at work just
    before it. If both come by chance at constant rates, and the load is r times what the pool can
    do, the next of them is an arrival with probability r c / (r c + k), c in the pool, k at work.
    """
    return _load(events, pool, limit, [limit * more for more in _MORE])


def load_below(events: Iterable[tuple[bool, int]], pool: int, limit: float) -> float:
    """The evidence against "at least ``limit`` times as fast"."""
    return _load(events, pool, limit, [limit / more for more in _MORE])


def _load(
    events: Iterable[tuple[bool, int]], pool: int, limit: float, bets: Sequence[float]
) -> float:
    logs = [0.0] * len(bets)
    for is_arrival, working in events:
        allowed = limit * pool
        for index, bet in enumerate(bets):
            staked = bet * pool
            if is_arrival:
                logs[index] += log(staked / allowed)
            logs[index] -= log((staked + working) / (allowed + working))
    return _mean(logs)


def _mean(logs: Sequence[float]) -> float:
    """What stakes of equal size have become."""
    return sum(exp(min(_LARGEST, value)) for value in logs) / len(logs)


def p_value(evidence: float) -> float:
    """``evidence`` as a p-value that holds whenever it is looked at: 1 / E, at most 1."""
    return 1.0 if evidence <= 1 else 1 / evidence


def known_before(first: Counts, second: Counts) -> float:
    """What counts from before the session say against "the first does not succeed more often": a
    p-value of Fisher's test becomes winnings of 1 / (2 sqrt(p)) (Vovk and Wang, Annals of
    Statistics 49, 2021), by which those of the session are multiplied. 1 without counts."""
    if not first.n or not second.n:
        return 1.0
    is_more = first.successes * second.n > second.successes * first.n
    chance = fisher_exact((first.successes, first.failures), (second.successes, second.failures))
    return 0.5 / sqrt(max(chance if is_more else 1.0, _SMALLEST))
