"""What a picture is made of: boxes, lines, labels and markers at their places, in pixels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from dcf.diagram.chart import Edge, Node
from dcf.diagram.look import Look

Point = tuple[float, float]

Direction = Literal["down", "right"]
"""Which way the flow goes."""


@dataclass(frozen=True, slots=True)
class Rect:
    """``x`` and ``y`` are those of the upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def moved(self, dx: float, dy: float) -> Rect:
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(frozen=True, slots=True)
class Box:
    """A state. ``name`` and ``notes`` are its lines of text; a ``frame`` has others inside."""

    rect: Rect
    node: Node
    name: tuple[str, ...]
    notes: tuple[str, ...]
    look: Look | None
    frame: bool

    def moved(self, dx: float, dy: float) -> Box:
        return replace(self, rect=self.rect.moved(dx, dy))


@dataclass(frozen=True, slots=True)
class Line:
    """An edge through ``points``, from its source to its target; None for the one from the start
    marker. ``label`` is where ``words`` stand."""

    points: tuple[Point, ...]
    edge: Edge | None
    words: tuple[str, ...] = ()
    label: Rect | None = None
    taken: bool = False
    back: bool = False

    def moved(self, dx: float, dy: float) -> Line:
        points = tuple((x + dx, y + dy) for x, y in self.points)
        return replace(self, points=points, label=self.label and self.label.moved(dx, dy))


@dataclass(frozen=True, slots=True)
class Marker:
    """A circle where a machine begins or ends."""

    rect: Rect
    kind: Literal["start", "end"]
    inner: bool

    def moved(self, dx: float, dy: float) -> Marker:
        return replace(self, rect=self.rect.moved(dx, dy))


@dataclass(frozen=True, slots=True)
class Title:
    """The name of one of several machines inside a state; ``rect`` is around all of it."""

    rect: Rect
    text: str

    def moved(self, dx: float, dy: float) -> Title:
        return replace(self, rect=self.rect.moved(dx, dy))


Shape = Box | Line | Marker | Title


@dataclass(slots=True)
class Picture:
    """Shapes, those behind others first."""

    width: float = 0
    height: float = 0
    shapes: list[Shape] = field(default_factory=list)

    def put(self, other: Picture, x: float, y: float) -> None:
        """Take over the shapes of ``other``, its corner at ``x``, ``y``."""
        self.shapes += [shape.moved(x, y) for shape in other.shapes]
