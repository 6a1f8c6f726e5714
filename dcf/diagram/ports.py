"""Where on a cell its edges begin and end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from dcf.diagram.cells import Layers

_APART = 20.0
_MARGIN = 10.0

Ports = dict[tuple[int, str, Hashable], float]
"""Position along the layer by cell, side (``top`` or ``bottom``) and group of pieces."""


def place_ports(found: Layers, centres: list[float]) -> Ports:
    """A port for each group on each side of each cell, in the order of what lies beyond."""
    beyond: dict[tuple[int, str], dict[Hashable, list[float]]] = defaultdict(dict)
    for route in found.routes:
        for piece in route:
            upper = beyond[piece.upper, "bottom"].setdefault(piece.group, [])
            upper.append(centres[piece.lower])
            lower = beyond[piece.lower, "top"].setdefault(piece.group, [])
            lower.append(centres[piece.upper])
    ports: Ports = {}
    for (cell, side), groups in beyond.items():
        goals = {group: sum(far) / len(far) for group, far in groups.items()}
        breadth = found.cells[cell].size.breadth
        for group, at in _spread(goals, centres[cell], breadth).items():
            ports[cell, side, group] = at
    return ports


def _spread(goals: dict[Hashable, float], centre: float, breadth: float) -> dict[Hashable, float]:
    """One in line with the centre gets it, so that it stays straight; the rest lie around."""
    order = sorted(goals, key=lambda group: (goals[group], str(group)))
    if len(order) == 1:
        return {order[0]: centre}
    nearest = min(range(len(order)), key=lambda at: abs(goals[order[at]] - centre))
    straight = abs(goals[order[nearest]] - centre) < 1
    pivot = float(nearest) if straight else (len(order) - 1) / 2
    reach = max(pivot, len(order) - 1 - pivot)
    apart = max(min(_APART, (breadth / 2 - _MARGIN) / reach), 0.5)
    return {group: round(centre + (at - pivot) * apart, 2) for at, group in enumerate(order)}
