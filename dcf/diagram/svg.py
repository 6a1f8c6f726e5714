"""A picture as SVG: text and shapes only, no script, no reference to anything outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise

from dcf.diagram.chart import MISSING, REFERENCE
from dcf.diagram.lettering import clean
from dcf.diagram.measure import (
    LABEL_LINE,
    LABEL_SIZE,
    NAME_LINE,
    NAME_SIZE,
    NOTE_LINE,
    NOTE_SIZE,
    PAD_Y,
)
from dcf.diagram.palette import DARK, LIGHT, Theme
from dcf.diagram.shapes import Box, Line, Marker, Picture, Point, Shape, Title

FONTS = (
    "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', "
    "sans-serif"
)
_ROUND = 7.0
_HEAD, _HALF = 8.0, 4.0
_PILLS = ("Succeed", "Fail", REFERENCE)


def to_svg(picture: Picture, title: str, *, run: bool = False) -> str:
    """``picture`` as one SVG document. With ``run`` states have the colour of their status."""
    width, height = _number(picture.width), _number(picture.height)
    name = _text(title or "state machine")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="{FONTS}" role="img" aria-label="{name}">',
        f"<title>{name}</title>",
        f"<style>{_style(LIGHT)}@media (prefers-color-scheme:dark){{{_style(DARK)}}}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
    ]
    lines = [shape for shape in picture.shapes if isinstance(shape, Line)]
    parts += [_shape(shape, run) for shape in picture.shapes if not isinstance(shape, Line)]
    # Ways taken lie above others, labels above all lines.
    parts += [_line(line) for line in sorted(lines, key=lambda line: line.taken)]
    parts += [_label(line) for line in lines if line.label is not None]
    return "\n".join(parts) + "\n</svg>\n"


def _shape(shape: Shape, run: bool) -> str:
    if isinstance(shape, Box):
        return _box(shape, run)
    if isinstance(shape, Marker):
        return _marker(shape)
    if isinstance(shape, Title):
        text = _words((shape.text,), shape.rect.x + shape.rect.width / 2, shape.rect.y + 15, "note")
        return f'<rect class="branch" {_rect(shape.rect.x, shape.rect.y, shape)} rx="6"/>{text}'
    return ""


def _box(box: Box, run: bool) -> str:
    kind = _class_of(box, run)
    rect = box.rect
    corner = min(rect.height / 2, 16) if box.node.type in _PILLS else 8
    titles = [clean(box.node.name)[:2000], box.node.note]
    if box.look is not None:
        titles.append(" · ".join(filter(None, (box.look.status, box.look.detail))))
    parts = [
        f"<g><title>{_text(' — '.join(filter(None, titles)))}</title>",
        f'<rect class="box {kind}" {_rect(rect.x, rect.y, box)} rx="{corner:g}"/>',
    ]
    if box.node.by_person:
        parts.append(_person(rect.x + 9, rect.y + 7))
    middle, y = rect.x + rect.width / 2, rect.y + PAD_Y + NAME_LINE - 4
    if not box.frame:
        used = len(box.name) * NAME_LINE + len(box.notes) * NOTE_LINE
        y += (rect.height - 2 * PAD_Y - used) / 2
    parts.append(_words(box.name, middle, y, "name"))
    parts.append(_words(box.notes, middle, y + len(box.name) * NAME_LINE - 1, "note"))
    return "".join([*parts, "</g>"])


def _person(x: float, y: float) -> str:
    """Head and shoulders, the head around ``x``, ``y``."""
    head = f'<circle class="start" cx="{_number(x)}" cy="{_number(y)}" r="2.4"/>'
    shoulders = f"M{_number(x - 4)} {_number(y + 8)}a4 4.5 0 0 1 8 0Z"
    return f'{head}<path class="start" d="{shoulders}"/>'


def _class_of(box: Box, run: bool) -> str:
    if box.node.type in (MISSING, REFERENCE):
        return f"k-{box.node.type}"
    if run:
        # The states inside tell more than the ground of the box around them.
        return f"s-{box.look.status if box.look else 'untouched'}{' around' if box.frame else ''}"
    return f"k-{box.node.type if box.node.type in LIGHT.kinds else 'other'}"


def _marker(marker: Marker) -> str:
    rect = marker.rect
    radius = rect.width / 2 - 1
    at = f'cx="{_number(rect.x + rect.width / 2)}" cy="{_number(rect.y + rect.height / 2)}"'
    if marker.kind == "start":
        return f'<circle class="start" {at} r="{_number(radius)}"><title>start</title></circle>'
    ring = f'<circle class="end" {at} r="{_number(radius)}"/>'
    return (
        f'<g><title>end</title>{ring}<circle class="start" {at} r="{_number(radius * 0.55)}"/></g>'
    )


def _line(line: Line) -> str:
    kind = line.edge.kind if line.edge else "next"
    names = f"line l-{kind}{' taken' if line.taken else ''}"
    stop = _shortened(line.points)
    told = ""
    if line.edge is not None:
        target = "end" if line.edge.target is None else clean(line.edge.target)
        words = f"{clean(line.edge.source)} → {target}"
        told = f"<title>{_text(': '.join(filter(None, (words, clean(line.edge.label)))))}</title>"
    head = _head(line.points)
    return (
        f'<g>{told}<path class="{names}" d="{_path(stop)}"/>'
        f'<path class="head h-{kind}{" taken" if line.taken else ""}" d="{head}"/></g>'
    )


def _label(line: Line) -> str:
    assert line.label is not None
    rect, kind = line.label, line.edge.kind if line.edge else "next"
    y = rect.y + LABEL_LINE - 1
    title = f"<title>{_text(clean(line.edge.label))}</title>" if line.edge else ""
    taken = " taken" if line.taken else ""
    box = (
        f'<rect class="chip c-{kind}{taken}" x="{_number(rect.x)}" y="{_number(rect.y)}" '
        f'width="{_number(rect.width)}" height="{_number(rect.height)}" rx="5"/>'
    )
    words = _words(line.words, rect.x + rect.width / 2, y, f"label t-{kind}")
    return f"<g>{title}{box}{words}</g>"


def _words(lines: tuple[str, ...], x: float, y: float, name: str) -> str:
    step = {"name": NAME_LINE, "note": NOTE_LINE}.get(name, LABEL_LINE)
    start = f'<text class="{name}" x="{_number(x)}"'
    return "".join(
        f'{start} y="{_number(y + number * step)}">{_text(line)}</text>'
        for number, line in enumerate(lines)
    )


def _shortened(points: tuple[Point, ...]) -> list[Point]:
    """The line ends where its arrow head begins."""
    (x0, y0), (x1, y1) = points[-2:]
    length = max(abs(x1 - x0) + abs(y1 - y0), 0.01)
    part = min(_HEAD - 1, length / 2) / length
    return [*points[:-1], (x1 - (x1 - x0) * part, y1 - (y1 - y0) * part)]


def _head(points: tuple[Point, ...]) -> str:
    (x0, y0), (x1, y1) = points[-2:]
    if abs(x1 - x0) > abs(y1 - y0):
        back = -_HEAD if x1 > x0 else _HEAD
        corners = [(x1, y1), (x1 + back, y1 - _HALF), (x1 + back, y1 + _HALF)]
    else:
        back = -_HEAD if y1 > y0 else _HEAD
        corners = [(x1, y1), (x1 - _HALF, y1 + back), (x1 + _HALF, y1 + back)]
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in corners) + "Z"


def _path(points: list[Point]) -> str:
    """Straight lines with rounded corners."""
    parts = [f"M{_number(points[0][0])} {_number(points[0][1])}"]
    for (before, here), (_, after) in pairwise(pairwise(points)):
        radius = min(_ROUND, _length(before, here) / 2, _length(here, after) / 2)
        into, out = _towards(here, before, radius), _towards(here, after, radius)
        parts.append(f"L{into}Q{_number(here[0])} {_number(here[1])} {out}")
    parts.append(f"L{_number(points[-1][0])} {_number(points[-1][1])}")
    return "".join(parts)


def _towards(here: Point, there: Point, far: float) -> str:
    share = far / max(_length(here, there), 0.01)
    x, y = (here[axis] + (there[axis] - here[axis]) * share for axis in (0, 1))
    return f"{_number(x)} {_number(y)}"


def _length(one: Point, other: Point) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _rect(x: float, y: float, shape: Box | Title) -> str:
    return (
        f'x="{_number(x)}" y="{_number(y)}" width="{_number(shape.rect.width)}" '
        f'height="{_number(shape.rect.height)}"'
    )


def _style(theme: Theme) -> str:
    return "".join(f".{name}{{{rule}}}" for name, rule in _rules(theme))


def _rules(theme: Theme) -> Iterator[tuple[str, str]]:
    yield "paper", f"fill:{theme.paper}"
    yield "branch", f"fill:{theme.frame};stroke:{theme.line};stroke-width:1;stroke-dasharray:3 4"
    yield "box", "stroke-width:1.5"
    for kind, (ground, border) in theme.kinds.items():
        yield f"k-{kind}", f"fill:{ground};stroke:{border}"
    for status, (ground, border) in theme.statuses.items():
        yield f"s-{status}", f"fill:{ground};stroke:{border}"
    yield "around", f"fill:{theme.frame}"
    yield "k-missing", "stroke-dasharray:5 4"
    yield "s-untouched", "stroke-dasharray:5 4"
    anchor = "text-anchor:middle"
    yield "name", f"fill:{theme.ink};font-size:{NAME_SIZE:g}px;font-weight:600;{anchor}"
    yield "note", f"fill:{theme.muted};font-size:{NOTE_SIZE:g}px;{anchor}"
    yield "label", f"fill:{theme.ink};font-size:{LABEL_SIZE:g}px;{anchor}"
    yield "chip", f"fill:{theme.paper};stroke:{theme.line};stroke-width:.75"
    yield "start", f"fill:{theme.ink}"
    yield "end", f"fill:{theme.paper};stroke:{theme.ink};stroke-width:1.75"
    yield "line", f"fill:none;stroke:{theme.line};stroke-width:1.5"
    yield "head", f"fill:{theme.line}"
    yield "line.taken", f"stroke:{theme.taken};stroke-width:3"
    yield "head.taken", f"fill:{theme.taken}"
    yield "l-catch", f"stroke:{theme.error};stroke-dasharray:5 4"
    yield "h-catch", f"fill:{theme.error}"
    yield "c-catch", f"stroke:{theme.error}"
    yield "t-catch", f"fill:{theme.error}"
    yield "chip.taken", "stroke-width:2"


def _number(value: float) -> str:
    return re.sub(r"\.?0+$", "", f"{value:.1f}") if "." in f"{value:.1f}" else f"{value:g}"


def _text(text: str) -> str:
    return escape(clean(text))
