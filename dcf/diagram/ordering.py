"""The order of the cells in each layer: few crossings, found by barycentres."""

from __future__ import annotations

from bisect import bisect_right, insort

from dcf.diagram.cells import Layers

_SWEEPS = 12
_AFFORDABLE = 60_000
_TRUNKS = 100


class Links:
    """Which cells are linked to which of the layers above and below, each pair once."""

    def __init__(self, found: Layers) -> None:
        self.above: list[list[int]] = [[] for _ in found.cells]
        self.below: list[list[int]] = [[] for _ in found.cells]
        pairs: dict[tuple[int, int], int] = {}
        for route, weight in zip(found.routes, found.weights, strict=True):
            for piece in route:
                pair = (piece.upper, piece.lower)
                trunks = all(found.cells[cell].kind == "trunk" for cell in pair)
                pairs[pair] = max(pairs.get(pair, 0), _TRUNKS if trunks else weight)
        for upper, lower in pairs:
            self.below[upper].append(lower)
            self.above[lower].append(upper)
        self.count = len(pairs)
        self._pairs = pairs

    def main_above(self) -> list[list[int]]:
        """``above``, for each cell only the links of most weight."""
        return [
            self._heaviest(near, [self._pairs[other, cell] for other in near])
            for cell, near in enumerate(self.above)
        ]

    def main_below(self) -> list[list[int]]:
        """``below``, for each cell only the links of most weight."""
        return [
            self._heaviest(near, [self._pairs[cell, other] for other in near])
            for cell, near in enumerate(self.below)
        ]

    @staticmethod
    def _heaviest(near: list[int], weights: list[int]) -> list[int]:
        most = max(weights, default=0)
        return [other for other, weight in zip(near, weights, strict=True) if weight == most]


def reduce_crossings(found: Layers, links: Links) -> None:
    """Reorder the layers, down and up in turn, and keep the best order seen."""
    best, fewest = found.layers, _crossings(found.layers, links)
    sweeps = max(2, min(_SWEEPS, _AFFORDABLE // (links.count + 1)))
    layers = [list(layer) for layer in best]
    for sweep in range(sweeps):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        _sweep(layers, links.above if downwards else links.below, downwards)
        crossings = _crossings(layers, links)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    found.layers = best


def _sweep(layers: list[list[int]], near: list[list[int]], downwards: bool) -> None:
    place = _places(layers)
    for layer in layers if downwards else reversed(layers):
        weights = {}
        for cell in layer:
            linked = near[cell]
            if linked:
                weights[cell] = sum(place[other] for other in linked) / len(linked)
        # A cell without a link on that side keeps its place, the others are sorted around it.
        moving = iter(sorted(weights, key=lambda cell: (weights[cell], place[cell])))
        layer[:] = [next(moving) if cell in weights else cell for cell in layer]
        for position, cell in enumerate(layer):
            place[cell] = position


def _places(layers: list[list[int]]) -> dict[int, int]:
    return {cell: position for layer in layers for position, cell in enumerate(layer)}


def _crossings(layers: list[list[int]], links: Links) -> int:
    place = _places(layers)
    total = 0
    for layer in layers:
        ends: list[int] = []
        for cell in layer:
            lower = sorted(place[other] for other in links.below[cell])
            total += sum(len(ends) - bisect_right(ends, position) for position in lower)
            for position in lower:
                insort(ends, position)
    return total
