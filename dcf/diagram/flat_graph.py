"""A graph without nesting, and where its parts come to lie.

The layout thinks in `breadth` (along a layer) and `depth` (from layer to layer, the way the flow
goes); what that is on paper, width or height, its caller knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Point = tuple[float, float]
"""``(breadth, depth)``."""


@dataclass(frozen=True, slots=True)
class Size:
    breadth: float
    depth: float


@dataclass(frozen=True, slots=True)
class FlatEdge:
    """From item ``source`` to item ``target``. Edges of one ``lane`` may share a line: those that
    end in one item meet before it, labelled ones of one item part after it. Those of more
    ``weight`` are kept straight at the cost of the others."""

    source: int
    target: int
    lane: str
    label: Size | None = None
    weight: int = 1


@dataclass(frozen=True, slots=True)
class FlatGraph:
    """``items`` are sizes by number; the flow begins at item 0."""

    items: tuple[Size, ...]
    edges: tuple[FlatEdge, ...]


@dataclass(slots=True)
class FlatLayout:
    """Corner of each item, the line of each edge from source to target, corner of each label."""

    size: Size
    items: list[Point]
    lines: list[list[Point]]
    labels: list[Point | None] = field(default_factory=list)
