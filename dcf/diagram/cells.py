"""Layers of cells: items, labels, and the places where long edges pass a layer.

Edges of one lane that end in the same item pass a layer in the same cell, a trunk: so a hundred
states that share an error handler need one line down the picture, and the number of cells stays
near that of the items.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from dcf.diagram.flat_graph import FlatGraph, Size

TRUNK = Size(12, 0)

CellKind = Literal["item", "label", "trunk"]


@dataclass(slots=True)
class Cell:
    """``number`` is that of the item or of the labelled edge, -1 for a trunk."""

    kind: CellKind
    size: Size
    layer: int
    number: int = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of an edge between a cell and one in the layer below. Pieces with the same
    ``group`` share their line."""

    upper: int
    lower: int
    group: Hashable


@dataclass(slots=True)
class Layers:
    """``routes`` has for each edge its pieces from its source on, to its target or to the trunk
    where it joins others; ``onward`` goes on from each trunk. An edge that ends where it begins
    has none. ``backward`` are edges against the flow; ``weights`` say how much an edge should be
    straight."""

    cells: list[Cell] = field(default_factory=list)
    layers: list[list[int]] = field(default_factory=list)
    routes: list[list[Piece]] = field(default_factory=list)
    onward: dict[int, Piece] = field(default_factory=dict)
    weights: list[int] = field(default_factory=list)
    backward: set[int] = field(default_factory=set)
    label_cells: dict[int, int] = field(default_factory=dict)


def layer(graph: FlatGraph, ranks: list[int], backward: set[int]) -> Layers:
    """Cells and pieces of ``graph``; the cells of each layer in the order they are met."""
    found = Layers(backward=backward)
    numbering = _numbering(graph, ranks, backward)
    for number, size in enumerate(graph.items):
        found.cells.append(Cell("item", size, numbering[2 * ranks[number]], number))
    trunks: dict[Hashable, int] = {}
    for number, edge in enumerate(graph.edges):
        found.weights.append(0 if number in backward else edge.weight)
        if edge.source == edge.target:
            found.routes.append([])
            continue
        way = -1 if number in backward else 1
        trail = [edge.source]
        if edge.label is not None:
            at = numbering[2 * ranks[edge.source] + way]
            found.label_cells[number] = len(found.cells)
            trail.append(len(found.cells))
            found.cells.append(Cell("label", edge.label, at, number))
        end = found.cells[edge.target].layer
        for at in range(found.cells[trail[-1]].layer + way, end, way):
            key = (edge.target, edge.lane, way, at)
            joined = key in trunks
            if not joined:
                trunks[key] = len(found.cells)
                found.cells.append(Cell("trunk", TRUNK, at))
            trail.append(trunks[key])
            if joined:
                break
        else:
            trail.append(edge.target)
        pieces = _pieces(found, trail, edge.lane, way)
        found.routes.append(pieces)
        for cell, piece in zip(trail, pieces, strict=False):
            if found.cells[cell].kind == "trunk":
                found.onward[cell] = piece
    _sort_in(found)
    return found


def _numbering(graph: FlatGraph, ranks: list[int], backward: set[int]) -> dict[int, int]:
    """Layers are numbered without gaps: items at twice their rank, labels between."""
    used = {2 * rank for rank in ranks}
    for number, edge in enumerate(graph.edges):
        if edge.label is not None and edge.source != edge.target:
            used.add(2 * ranks[edge.source] + (-1 if number in backward else 1))
    return {level: number for number, level in enumerate(sorted(used))}


def _pieces(found: Layers, trail: list[int], lane: str, way: int) -> list[Piece]:
    pieces = []
    for here, there in pairwise(trail):
        # Before its label an edge belongs with others of its source, later of its target.
        parting = found.cells[there].kind == "label"
        group = ("from", here, lane, way) if parting else ("to", there, lane, way)
        pieces.append(Piece(*((here, there) if way > 0 else (there, here)), group))
    return pieces


def _sort_in(found: Layers) -> None:
    """Fill the layers walking down from the first item, so that what belongs together is near."""
    below: list[list[int]] = [[] for _ in found.cells]
    entered = [False] * len(found.cells)
    for pieces in found.routes:
        for piece in pieces:
            below[piece.upper].append(piece.lower)
            entered[piece.lower] = True
    found.layers = [[] for _ in range(1 + max(cell.layer for cell in found.cells))]
    seen = [False] * len(found.cells)
    roots = [0, *(cell for cell in range(len(found.cells)) if not entered[cell])]
    for root in [*roots, *range(len(found.cells))]:
        waiting = [root]
        while waiting:
            cell = waiting.pop()
            if not seen[cell]:
                seen[cell] = True
                found.layers[found.cells[cell].layer].append(cell)
                waiting += reversed(below[cell])
