"""Which version to use next: the best so far, or one that may be better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from dcf.evidence.beta import Beta
from dcf.evidence.pooling import pooled
from dcf.evidence.record import NOTHING, Record
from dcf.evidence.superiority import best_probabilities

SURE = 0.9
"""While none is the best with this probability, the choice is between the two that may be."""
CHALLENGED = 0.5
"""How often then the other of the two is taken. The best share depends on the rates; with a half
the probability of an error falls with at least half of its exponent (Russo 2016)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One version among others: ``belief`` is what its record and those of the others say of its
    success rate, ``best`` the probability that no other is better."""

    version: str
    record: Record
    belief: Beta
    best: float

    @property
    def expected(self) -> float:
        """The expected success rate."""
        return self.belief.mean

    @property
    def interval(self) -> tuple[float, float]:
        """The central 95 % of what is believed of its success rate."""
        return self.belief.interval()


@dataclass(frozen=True, slots=True)
class Choice:
    """``version`` is what to use. ``recommended`` is the one with the highest expected success, and
    ``confidence`` the probability that no other is better. ``exploration`` is how often another one
    is taken to learn about it, as things stand: 0 when it is switched off."""

    version: str
    recommended: str
    confidence: float
    exploration: float
    standings: tuple[Standing, ...]

    @property
    def explored(self) -> bool:
        """Whether ``version`` is taken to learn about it."""
        return self.version != self.recommended

    @property
    def reason(self) -> str:
        """Why, in words."""
        top = self.standings[0]
        if len(self.standings) == 1:
            return f"{top.version} is the only candidate ({_measured(top)})"
        second = self.standings[1]
        known = (
            f"{top.version} is expected to succeed most ({_measured(top)}); "
            f"that no other is better is {top.best:.0%} probable; "
            f"alternative: {second.version} ({_measured(second)})"
        )
        if not any(row.record.weight for row in self.standings):
            known = f"nothing is measured yet of any of the {len(self.standings)} candidates"
        if not self.explored:
            return known
        (taken,) = (row for row in self.standings if row.version == self.version)
        return f"{taken.version} is tried to learn about it ({_measured(taken)}); {known}"

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all of it."""
        return {
            "version": self.version,
            "recommended": self.recommended,
            "confidence": round(self.confidence, 4),
            "explored": self.explored,
            "exploration": round(self.exploration, 4),
            "reason": self.reason,
            "standings": [
                {
                    "version": row.version,
                    "expected": round(row.expected, 4),
                    "low": round(row.interval[0], 4),
                    "high": round(row.interval[1], 4),
                    "best": round(row.best, 4),
                    "n": row.record.n,
                }
                for row in self.standings
            ],
        }


def standings(candidates: Sequence[str], records: Mapping[str, Record]) -> tuple[Standing, ...]:
    """The candidates, the one with the highest expected success first; among equals the order of
    ``candidates`` decides. Raises ValueError without candidates or with one twice."""
    if not candidates or len(set(candidates)) < len(candidates):
        raise ValueError("candidates must be some, and each of them once")
    known = [records.get(candidate, NOTHING) for candidate in candidates]
    beliefs = pooled([record.posterior for record in known])
    shares = best_probabilities(beliefs)
    rows = [
        Standing(name, record, belief, best)
        for name, record, belief, best in zip(candidates, known, beliefs, shares, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.expected))


def choose(
    candidates: Sequence[str],
    records: Mapping[str, Record],
    *,
    random: Random,
    explore: bool = True,
) -> Choice:
    """Choose among ``candidates`` by what is recorded of them (nothing for those not in
    ``records``); list first what to prefer among equals.

    With ``explore`` one draw is taken from what each record says by itself, and the largest wins
    (Thompson 1933): each is chosen as often as it would be the best if the others said nothing of
    it. While none is so with probability ``SURE``, every second time the draws are repeated until
    another one wins, which is then chosen (top-two Thompson sampling: Russo, Simple Bayesian
    Algorithms for Best Arm Identification, 2016). So the rate of exploration falls by itself.
    Without, the recommended one is chosen.

    To find out, differences are taken to be possible, and changes not to have been until they are
    certain: what is suspected is run on until it is decided. To advise, differences have to show,
    and the suspicion counts.
    """
    rows = standings(candidates, records)
    top = rows[0]
    chosen, exploration = top.version, 0.0
    if explore and len(rows) > 1:
        alone = {name: records.get(name, NOTHING).steady for name in candidates}
        shares = dict(zip(alone, best_probabilities(list(alone.values())), strict=True))
        chosen = _drawn(alone, random)
        if max(shares.values()) < SURE:
            shares = {name: _top_two(name, shares) for name in shares}
            leader, is_challenged = chosen, random.random() < CHALLENGED
            while is_challenged and chosen == leader:
                chosen = _drawn(alone, random)
        exploration = 1 - shares[top.version]
    return Choice(
        version=chosen,
        recommended=top.version,
        confidence=top.best,
        exploration=exploration,
        standings=rows,
    )


def _drawn(alone: Mapping[str, Beta], random: Random) -> str:
    draws = {name: random.betavariate(belief.a, belief.b) for name, belief in alone.items()}
    return max(draws, key=draws.__getitem__)


def _top_two(name: str, shares: Mapping[str, float]) -> float:
    """How often ``name`` is chosen: as the leader, or as the challenger of another leader. No share
    is near 1."""
    challenger = sum(
        share * shares[name] / (1 - share) for other, share in shares.items() if other != name
    )
    return (1 - CHALLENGED) * shares[name] + CHALLENGED * challenger


def _measured(row: Standing) -> str:
    return row.record.told(row.belief)
