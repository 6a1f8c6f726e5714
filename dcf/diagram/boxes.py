"""A chart becomes a picture: inner machines first, each then a box in the machine around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcf.diagram.chart import REFERENCE, Chart, Edge, Machine, Node, Place
from dcf.diagram.far_edges import far_edges
from dcf.diagram.flat_graph import FlatEdge, FlatGraph, FlatLayout, Size
from dcf.diagram.layered import lay_out
from dcf.diagram.lettering import width_of
from dcf.diagram.look import RunLook
from dcf.diagram.measure import (
    NAME_LINE,
    NOTE_LINE,
    NOTE_SIZE,
    PAD_Y,
    Label,
    Words,
    label_of,
    words_of,
)
from dcf.diagram.shapes import Box, Direction, Line, Marker, Picture, Point, Rect, Title

MARGIN = 20.0
_START = 0
_INSIDE = 16.0
_BETWEEN = 14.0
_TITLE = 20.0
_MARK, _INNER_MARK = 26.0, 12.0
_FRAME_TEXT = 420.0


def arrange(chart: Chart, run: RunLook | None = None, direction: Direction = "down") -> Picture:
    """The picture of ``chart``, its first corner at 0, 0."""
    inner = _Arranger(run, direction).machine(chart.machine, ())
    picture = Picture(inner.width + 2 * MARGIN, inner.height + 2 * MARGIN)
    picture.put(inner, MARGIN, MARGIN)
    return picture


class _Arranger:
    def __init__(self, run: RunLook | None, direction: Direction) -> None:
        self._run = run
        self._down = direction == "down"

    def machine(self, machine: Machine, place: Place) -> Picture:
        """The states of ``machine``, its markers and the lines between them."""
        numbers = {node.name: number + 1 for number, node in enumerate(machine.nodes)}
        edges = [Edge("", machine.start, "next")] if machine.start in numbers else []
        edges += machine.edges
        labels = [label_of(edge) for edge in edges]
        parts = self._parts(machine, edges, labels, place)
        flat = [
            FlatEdge(
                numbers.get(edge.source, _START),
                len(numbers) + 1 if edge.target is None else numbers[edge.target],
                "error" if edge.kind == "catch" else "flow",
                self._turned(Size(label.width, label.height)) if label else None,
                1 if edge.kind == "catch" else 2,
            )
            for edge, label in zip(edges, labels, strict=True)
        ]
        for number in sorted(far_edges(len(parts), flat)):
            flat[number] = replace(flat[number], target=len(parts))
            parts.append((self._reference(edges[number].target), Picture()))
        sizes = [self._turned(Size(one.rect.width, one.rect.height)) for one, _ in parts]
        layout = lay_out(FlatGraph(tuple(sizes), tuple(flat)))
        whole = self._turned(layout.size)
        picture = Picture(whole.breadth, whole.depth)
        for (shape, inside), corner in zip(parts, layout.items, strict=True):
            if shape.rect.width:
                picture.shapes.append(shape.moved(*self._point(corner)))
                picture.put(inside, *self._point(corner))
        for number, edge in enumerate(edges):
            picture.shapes.append(self._line(edge, labels[number], layout, number, place))
        return picture

    def _parts(
        self,
        machine: Machine,
        edges: Sequence[Edge],
        labels: Sequence[Label | None],
        place: Place,
    ) -> list[tuple[Box | Marker, Picture]]:
        """The start marker, the states and, where one is needed, the end marker, each with what is
        inside of it, as if it stood at 0, 0."""
        mark = _INNER_MARK if place else _MARK
        beside = {
            edge.source: label
            for edge, label in zip(edges, labels, strict=True)
            if label and edge.source == edge.target
        }
        start = mark if any(not edge.source for edge in edges) else 0.0
        parts: list[tuple[Box | Marker, Picture]] = [
            (Marker(Rect(0, 0, start, start), "start", bool(place)), Picture())
        ]
        for node in machine.nodes:
            box, inside = self._node(node)
            if node.name in beside:
                box = self._beside(box, beside[node.name])
            parts.append((box, inside))
        if any(edge.target is None for edge in edges):
            parts.append((Marker(Rect(0, 0, mark, mark), "end", bool(place)), Picture()))
        return parts

    def _reference(self, target: str | None) -> Box:
        """Stands for a state that is too far away for a line."""
        name = "end" if target is None else target
        node = Node(name, REFERENCE, ())
        label = label_of(Edge("", None, "next", f"→ {name}"))
        assert label is not None
        rect = Rect(0, 0, label.width + 12, label.height + 6)
        return Box(rect, node, (), label.words, None, False)

    def _beside(self, box: Box, label: Label) -> Box:
        """``box``, as long as the label of a loop that stands beside it."""
        rect = box.rect
        width = rect.width if self._down else max(rect.width, label.width)
        height = max(rect.height, label.height) if self._down else rect.height
        return replace(box, rect=replace(rect, width=width, height=height))

    def _node(self, node: Node) -> tuple[Box, Picture]:
        """The box of ``node`` and what is inside of it, both as if it stood at 0, 0."""
        look = self._run.states.get(node.place) if self._run else None
        if not node.machines:
            words = words_of(node, look)
            rect = Rect(0, 0, words.width, words.height)
            return Box(rect, node, words.name, words.notes, look, False), Picture()
        words = words_of(node, look, _FRAME_TEXT)
        inside = self._inside(node, words)
        rect = Rect(0, 0, inside.width, inside.height)
        return Box(rect, node, words.name, words.notes, look, True), inside

    def _inside(self, node: Node, words: Words) -> Picture:
        """The machines of ``node`` side by side below its name."""
        head = PAD_Y + len(words.name) * NAME_LINE + len(words.notes) * NOTE_LINE + 6
        several = len(node.machines) > 1
        pictures = [
            self.machine(machine, (*node.place, number))
            for number, machine in enumerate(node.machines)
        ]
        longest = max(one.height if self._down else one.width for one in pictures)
        framed = [
            self._framed(picture, machine.title, longest) if several else picture
            for picture, machine in zip(pictures, node.machines, strict=True)
        ]
        if self._down:
            across = sum(one.width for one in framed) + _BETWEEN * (len(framed) - 1)
            along = max(one.height for one in framed)
        else:
            across = max(one.width for one in framed)
            along = sum(one.height for one in framed) + _BETWEEN * (len(framed) - 1)
        result = Picture(max(across + 2 * _INSIDE, words.width), head + along + _INSIDE)
        x, y = (result.width - across) / 2, head
        for one in framed:
            result.put(one, x, y)
            x, y = (x + one.width + _BETWEEN, y) if self._down else (x, y + one.height + _BETWEEN)
        return result

    def _framed(self, picture: Picture, title: str, longest: float) -> Picture:
        """One of several machines with its title, in a frame as long as that of the longest."""
        width = max(picture.width if self._down else longest, width_of(title, NOTE_SIZE))
        height = longest if self._down else picture.height
        result = Picture(width + 2 * _BETWEEN, height + _TITLE + _BETWEEN + 4)
        frame = Rect(0, 0, result.width, result.height)
        result.shapes.append(Title(frame, title))
        left = (result.width - picture.width) / 2 if self._down else _BETWEEN
        result.put(picture, left, _TITLE + 4)
        return result

    def _line(
        self, edge: Edge, label: Label | None, layout: FlatLayout, number: int, place: Place
    ) -> Line:
        points = tuple(map(self._point, layout.lines[number]))
        corner = layout.labels[number]
        rect = None
        if label is not None and corner is not None:
            rect = Rect(*self._point(corner), label.width, label.height)
        along = 1 if self._down else 0
        return Line(
            points,
            edge if edge.source else None,
            label.words if label else (),
            rect,
            self._run is not None and self._run.has_taken(edge, place),
            points[-1][along] < points[0][along],
        )

    def _turned(self, size: Size) -> Size:
        return size if self._down else Size(size.depth, size.breadth)

    def _point(self, point: Point) -> Point:
        return point if self._down else (point[1], point[0])
