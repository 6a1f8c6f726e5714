"""The lines between two layers: each runs along the layer on a track of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

_TOUCH = 6.0
_OVERLAP_COST = 50
_MOST_COMPARED = 150


@dataclass(slots=True)
class Bus:
    """One line: from ``tops`` (positions on the layer above) to ``bottoms`` (below)."""

    tops: set[float] = field(default_factory=set)
    bottoms: set[float] = field(default_factory=set)
    track: int = 0

    @property
    def low(self) -> float:
        return min(*self.tops, *self.bottoms)

    @property
    def high(self) -> float:
        return max(*self.tops, *self.bottoms)

    @property
    def is_straight(self) -> bool:
        return self.high - self.low < 0.01


def assign_tracks(buses: Sequence[Bus]) -> int:
    """Give each bus that is not straight its track, from 0 at the top; how many there are.

    Buses that lie side by side share tracks. The order makes few crossings, and lets no two lines
    run over each other where that can be avoided.
    """
    bent = [bus for bus in buses if not bus.is_straight]
    spans = {id(bus): (bus.low, bus.high) for bus in bent}
    order = _sorted(bent) if len(bent) > _MOST_COMPARED else _compared(bent)
    tracks: list[list[tuple[float, float]]] = []
    for bus in order:
        low, high = spans[id(bus)]
        at = len(tracks)
        while at and not _meets(tracks[at - 1], low, high):
            at -= 1
        if at == len(tracks):
            tracks.append([])
        tracks[at].append((low, high))
        bus.track = at
    return len(tracks)


def _meets(track: list[tuple[float, float]], low: float, high: float) -> bool:
    return any(low <= other[1] + _TOUCH and other[0] <= high + _TOUCH for other in track)


def _sorted(buses: list[Bus]) -> list[Bus]:
    """Those that lead to the right from right to left, then the others from left to right."""

    def key(bus: Bus) -> tuple[int, float, float]:
        right = sum(bus.bottoms) / len(bus.bottoms) >= sum(bus.tops) / len(bus.tops)
        return (0, -min(bus.tops), -bus.high) if right else (1, max(bus.tops), bus.low)

    return sorted(buses, key=key)


def _compared(buses: list[Bus]) -> list[Bus]:
    """Greedily: next comes the bus that costs least above all that are left."""
    costs = [[_cost(one, other) if one is not other else 0 for other in buses] for one in buses]
    left = list(range(len(buses)))
    # What it costs to place a bus now, less what it would cost below each of the others.
    burden = [sum(costs[one][two] - costs[two][one] for two in left) for one in left]
    order = []
    while left:
        best = min(left, key=lambda one: (burden[one], buses[one].low, one))
        left.remove(best)
        order.append(buses[best])
        for one in left:
            burden[one] -= costs[one][best] - costs[best][one]
    return order


def _cost(above: Bus, below: Bus) -> int:
    """Crossings, and overlaps at a higher price, with ``above`` on the higher track."""
    if above.high < below.low or below.high < above.low:
        return 0
    crossings = sum(below.low < at < below.high for at in above.bottoms)
    crossings += sum(above.low < at < above.high for at in below.tops)
    overlaps = sum(abs(one - two) < _TOUCH for one in above.bottoms for two in below.tops)
    return crossings + _OVERLAP_COST * overlaps
