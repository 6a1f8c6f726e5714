"""A layered layout of a flat graph, in the steps that K. Sugiyama described.

Loops are cut, items ranked, long edges led through the layers by cells of their own, the layers
ordered and aligned. Lines run straight down within a layer, each in the room of its own cell, and
sideways only between layers: so they never run through an item or a label.
"""

from __future__ import annotations

from collections.abc import Hashable

from dcf.diagram.alignment import align
from dcf.diagram.cells import Layers, Piece, layer
from dcf.diagram.channel import Bus, assign_tracks
from dcf.diagram.flat_graph import FlatEdge, FlatGraph, FlatLayout, Point, Size
from dcf.diagram.ordering import Links, reduce_crossings
from dcf.diagram.ports import Ports, place_ports
from dcf.diagram.ranking import backward_edges, ranks_of
from dcf.diagram.straightening import straighten

TRACK = 10.0
_BEFORE, _AFTER, _STRAIGHT = 12.0, 18.0, 22.0
_CENTRED = 60.0
_LOOP = 16.0
_ROUNDING = 0.03


def lay_out(graph: FlatGraph) -> FlatLayout:
    """Places for the items and labels of ``graph`` and lines for its edges."""
    if not graph.items:
        return FlatLayout(Size(0, 0), [], [], [])
    backward = backward_edges(len(graph.items), graph.edges)
    found = layer(_with_loops(graph), ranks_of(len(graph.items), graph.edges, backward), backward)
    links = Links(found)
    reduce_crossings(found, links)
    centres = align(found, links)
    straighten(found, links, centres)
    return _Drawing(graph, found, centres).layout()


def _with_loops(graph: FlatGraph) -> FlatGraph:
    """Room beside the items that lead to themselves."""
    items = list(graph.items)
    for edge in graph.edges:
        if edge.source == edge.target:
            size = graph.items[edge.source]
            room = _LOOP * 1.5 + (edge.label.breadth if edge.label else 0)
            breadth = max(items[edge.source].breadth, size.breadth + 2 * room)
            items[edge.source] = Size(breadth, size.depth)
    return FlatGraph(tuple(items), graph.edges)


class _Drawing:
    """Turns layers and centres into points."""

    def __init__(self, graph: FlatGraph, found: Layers, centres: list[float]) -> None:
        self._graph, self._found = graph, found
        shift = min(
            at - cell.size.breadth / 2 for at, cell in zip(centres, found.cells, strict=True)
        )
        self._centres = [round(at - shift, 2) for at in centres]
        self._ports: Ports = place_ports(found, self._centres)
        self._buses: dict[Hashable, Bus] = {}
        self._tops: list[float] = []
        self._rests: dict[int, list[Point]] = {}
        self._deep = [
            max((found.cells[cell].size.depth for cell in row), default=0.0) for row in found.layers
        ]

    def layout(self) -> FlatLayout:
        self._stack()
        cells = self._found.cells
        items = [self._corner(item) for item in range(len(self._graph.items))]
        lines, labels = [], []
        for number, edge in enumerate(self._graph.edges):
            if edge.source == edge.target:
                line, label = self._loop(edge)
            else:
                line = self._line(number)
                cell = self._found.label_cells.get(number)
                label = self._corner(cell) if cell is not None else None
            lines.append(line)
            labels.append(label)
        breadth = max(
            at + cell.size.breadth / 2 for at, cell in zip(self._centres, cells, strict=True)
        )
        depth = self._tops[-1] + self._deep[-1]
        return FlatLayout(Size(breadth, depth), items, lines, labels)

    def _stack(self) -> None:
        """The depth of each layer: below the last, with room for the tracks between."""
        gaps: list[dict[Hashable, Bus]] = [{} for _ in self._found.layers]
        for route in self._found.routes:
            for piece in route:
                gap = self._found.cells[piece.upper].layer
                bus = gaps[gap].setdefault(piece.group, Bus())
                bus.tops.add(self._ports[piece.upper, "bottom", piece.group])
                bus.bottoms.add(self._ports[piece.lower, "top", piece.group])
                self._buses[gap, piece.group] = bus
        at = 0.0
        for deep, gap_buses in zip(self._deep, gaps, strict=True):
            self._tops.append(at)
            tracks = assign_tracks(list(gap_buses.values()))
            bent = _BEFORE + _AFTER + (tracks - 1) * TRACK
            at += deep + (bent if tracks else _STRAIGHT)

    def _top(self, number: int) -> float:
        """Small cells stand in the middle of their layer, but at the top beside a big one."""
        cell = self._found.cells[number]
        spare = self._deep[cell.layer] - cell.size.depth
        centred = spare <= _CENTRED or cell.kind != "item"
        return self._tops[cell.layer] + (spare / 2 if centred else 0.0)

    def _corner(self, number: int) -> Point:
        size = self._found.cells[number].size
        if self._found.cells[number].kind == "item":
            size = self._graph.items[number]
        return self._centres[number] - size.breadth / 2, self._top(number)

    def _line(self, number: int) -> list[Point]:
        points: list[Point] = []
        upwards = number in self._found.backward
        pieces = self._found.routes[number]
        for piece in pieces:
            points += self._part(piece, upwards)
        last = pieces[-1].upper if upwards else pieces[-1].lower
        return _without_repeats(points + self._rest(last, upwards))

    def _rest(self, cell: int, upwards: bool) -> list[Point]:
        """From the trunk ``cell`` to the end of its line, nothing from an item."""
        passed = []
        while cell in self._found.onward and cell not in self._rests:
            passed.append(cell)
            piece = self._found.onward[cell]
            cell = piece.upper if upwards else piece.lower
        rest = self._rests.get(cell, [])
        for trunk in reversed(passed):
            rest = _without_repeats(self._part(self._found.onward[trunk], upwards) + rest)
            self._rests[trunk] = rest
        return rest

    def _part(self, piece: Piece, upwards: bool) -> list[Point]:
        """From the bottom of the upper cell to the top of the lower one, or the other way."""
        upper, lower, group = piece.upper, piece.lower, piece.group
        gap = self._found.cells[upper].layer
        here = self._ports[upper, "bottom", group]
        there = self._ports[lower, "top", group]
        start = self._top(upper) + self._found.cells[upper].size.depth
        bus = self._buses[gap, group]
        track = self._tops[gap] + self._deep[gap] + _BEFORE + bus.track * TRACK
        points = [(here, start), (here, track), (there, track), (there, self._top(lower))]
        return points[::-1] if upwards else points

    def _loop(self, edge: FlatEdge) -> tuple[list[Point], Point | None]:
        size = self._graph.items[edge.source]
        left, top = self._corner(edge.source)
        upper, lower = top + size.depth * 0.25, top + size.depth * 0.75
        # One lane has its loop on the one side, the other on the other.
        after = edge.weight > 1
        side = left + size.breadth if after else left
        out = side + _LOOP if after else side - _LOOP
        line = [(side, upper), (out, upper), (out, lower), (side, lower)]
        if edge.label is None:
            return line, None
        middle = top + (size.depth - edge.label.depth) / 2
        return line, (out + 2 if after else out - 2 - edge.label.breadth, middle)


def _without_repeats(points: list[Point]) -> list[Point]:
    """Only the corners: what lies on the way between two others is left out."""
    kept: list[Point] = []
    for point in points:
        if not kept:
            kept.append(point)
            continue
        here = _snapped(point, kept[-1])
        if here == kept[-1]:
            continue
        if len(kept) > 1 and any(kept[-2][axis] == kept[-1][axis] == here[axis] for axis in (0, 1)):
            kept[-1] = here
        else:
            kept.append(here)
    return kept


def _snapped(point: Point, last: Point) -> Point:
    """``point``, exactly in line with ``last`` where only rounding sets them apart."""
    breadth, depth = (
        before if abs(now - before) < _ROUNDING else now
        for now, before in zip(point, last, strict=True)
    )
    return breadth, depth
