"""What goes wrong, and when: drawn from the seed, call by call."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Literal

Fault = Literal[
    "none",
    "request_lost",
    "reply_lost",
    "resent",
    "slow",
    "stopped",
    "crash_before",
    "crash_after",
    "crash_in_flight",
    "refused",
]
HintFault = Literal["none", "lost", "doubled", "late"]

FAULT_WORDS: dict[Fault, str] = {
    "none": "calls that went well",
    "request_lost": "requests lost",
    "reply_lost": "replies lost",
    "resent": "calls said twice",
    "slow": "calls delayed beyond a lease",
    "stopped": "processes stopped for a while",
    "crash_before": "crashes before a call",
    "crash_after": "crashes after a call",
    "crash_in_flight": "crashes with a call under way",
    "refused": "times that the server took no writes",
}
_ANSWERS = (
    "OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica.",
    "MISCONF Errors writing to the AOF file: No space left on device",
)
_MOST_REFUSALS = 6
_CRASHES: frozenset[Fault] = frozenset({"crash_before", "crash_after", "crash_in_flight"})
_MOST_CRASHES = 12


@dataclass(frozen=True, slots=True)
class Fate:
    """What happens to one call: seconds there and back, and a fault on its way; ``answer`` is what
    a server says that takes no writes from now on."""

    fault: Fault
    there_s: float
    back_s: float
    trouble_s: float = 0.0
    answer: str = ""


class Weather:
    """How rough a seed is. ``calm()`` ends all faults; delays of a millisecond remain, so that
    calls still overtake each other. ``refusals`` is for a server that takes no writes for a while,
    which it does under one seed of three."""

    def __init__(self, rng: random.Random, *, refusals: random.Random, ttl_s: float) -> None:
        self._rng = rng
        self._refusals = refusals
        self._refusal_rate = refusals.choice((0.0, 0.0, 0.005))
        self._ttl_s = ttl_s
        self._call_rate = rng.choice((0.0, 0.01, 0.03, 0.06, 0.1))
        self._hint_rate = rng.choice((0.0, 0.1, 0.3, 0.6))
        kinds: list[Fault] = [kind for kind in FAULT_WORDS if kind not in ("none", "refused")]
        self._weights = {kind: rng.choice((0, 1, 1, 3)) for kind in kinds}
        self._weights["resent"] += 1
        self._crashes = 0
        self.is_calm = False
        self.seen: Counter[Fault] = Counter()
        self.hints_seen: Counter[HintFault] = Counter()

    def calm(self) -> None:
        """No more faults."""
        self.is_calm = True

    def fate(self, *, weight: float, mortal: bool) -> Fate:
        """The fate of the next call; only a ``mortal`` caller can be killed by it. ``weight`` makes
        faults more likely where they matter more."""
        rng = self._rng
        there, back = rng.expovariate(2000), rng.expovariate(2000)
        fault: Fault = "none"
        if not self.is_calm and rng.random() < self._call_rate * weight:
            fault = rng.choices(list(self._weights), list(self._weights.values()))[0]
        if fault in _CRASHES:
            self._crashes += 1
            if not mortal or self._crashes > _MOST_CRASHES:
                fault = "reply_lost"
        if fault == "none" and self._refuses():
            self.seen["refused"] += 1
            seconds = self._ttl_s * self._refusals.choice((0.1, 0.5, 1.0, 2.5))
            return Fate("refused", there, back, seconds, self._refusals.choice(_ANSWERS))
        self.seen[fault] += 1
        trouble = 0.0
        if fault in ("slow", "stopped", "crash_in_flight"):
            # Mostly about as long as a lease lasts: that is where authority changes hands.
            trouble = self._ttl_s * rng.choice((0.3, 0.8, 1.0, 1.0, 1.0, 2.5)) + rng.uniform(0, 1)
        return Fate(fault, there, back, trouble)

    def _refuses(self) -> bool:
        if self.is_calm or self.seen["refused"] >= _MOST_REFUSALS:
            return False
        return self._refusals.random() < self._refusal_rate

    def hint_fault(self) -> HintFault:
        """What happens to one hint."""
        if self.is_calm or self._rng.random() >= self._hint_rate:
            return "none"
        fault = self._rng.choice(_HINT_FAULTS)
        self.hints_seen[fault] += 1
        return fault

    def seconds(self, shortest: float, longest: float) -> float:
        """A random while."""
        return self._rng.uniform(shortest, longest)


_HINT_FAULTS: tuple[HintFault, ...] = ("lost", "lost", "doubled", "late")
