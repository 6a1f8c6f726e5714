"""A comparison as one SVG picture: the sentences at the left, the states at the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from dcf.diagram import DARK, FONTS, LIGHT, Picture, Theme, clean, width_of, wrap
from dcf.planner.comparing.showing import (
    LEGEND,
    PLACE,
    colours,
    hue_by_step,
    lines_of,
    summary,
    text_of,
    where,
)
from dcf.planner.comparing.side_by_side import Part, SeenState, SideBySide

_MARGIN = 20.0
_LINES, _TEXT, _PLACE, _JOINT, _STATES = 46.0, 560.0, 122.0, 84.0, 320.0
"""The widths of the columns."""
_WIDTH = 2 * _MARGIN + _LINES + _TEXT + _PLACE + _JOINT + _STATES
_SIZE, _ROW, _MOST_ROWS = 13.0, 17.0, 8
_SMALL, _SMALL_ROW = 11.0, 14.0
_BETWEEN, _PAD = 14.0, 7.0
_TEXT_X = _MARGIN + _LINES
_PLACE_X = _TEXT_X + _TEXT
_JOINT_X = _PLACE_X + _PLACE
_STATES_X = _JOINT_X + _JOINT


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Shapes that begin at the height asked for, and how high they are."""

    shapes: tuple[str, ...]
    height: float


def picture_of(found: SideBySide) -> tuple[str, Picture]:
    """The picture as the text of an SVG document, and its size."""
    hues = hue_by_step([part.step for part in found.parts if part.step])
    y, body = _MARGIN, list[str]()
    for drawn in _blocks(found, hues, y):
        body += drawn.shapes
        y += drawn.height
    size = Picture(_WIDTH, y + _MARGIN)
    name = _text(f"{found.title}: text and workflow")
    frame = f'width="{size.width:g}" height="{size.height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size.width:g} {size.height:.0f}" '
        f'{frame} font-family="{FONTS}" role="img" aria-label="{name}">',
        f"<title>{name}</title>",
        f"<style>{_style(LIGHT)}@media (prefers-color-scheme:dark){{{_style(DARK)}}}</style>",
        f'<rect class="paper" {frame}/>',
        *body,
        "</svg>",
    ]
    return "\n".join(parts) + "\n", size


def _blocks(found: SideBySide, hues: Mapping[str, int], y: float) -> Iterator[_Drawn]:
    head = _heading(found, y)
    yield head
    y += head.height
    for part in found.parts:
        drawn = _part(part, hues.get(part.step or ""), y)
        yield drawn
        y += drawn.height
    for title, states in (
        ("States that no sentence stands for", found.loose),
        ("States of the whole procedure", found.frame),
    ):
        if states:
            drawn = _rest(title, states, y)
            yield drawn
            y += drawn.height


def _heading(found: SideBySide, y: float) -> _Drawn:
    shapes = [_words((clean(found.title)[:90],), _MARGIN, y + 18, "title", 0)]
    lines = summary(found)
    for at, line in enumerate(lines):
        bad = (found.open, found.loose)[at]
        shapes.append(_words((line,), _MARGIN, y + 40 + at * 18, "wrong" if bad else "text", 0))
    below = y + 40 + 18 * len(lines)
    shapes.append(_words((LEGEND,), _MARGIN, below, "note", 0))
    heads = below + 30
    for name, x in (
        ("Line and sentence", _MARGIN),
        ("Place", _PLACE_X),
        ("States of the workflow", _STATES_X + 10),
    ):
        shapes.append(_words((name,), x, heads, "note", 0))
    shapes.append(_words(("Step",), _JOINT_X + _JOINT / 2, heads, "note middle", 0))
    rule = f"M{_MARGIN} {heads + 7}H{_WIDTH - _MARGIN}"
    shapes.append(f'<path class="rule" d="{rule}"/>')
    return _Drawn(tuple(shapes), heads + 7 - y + _BETWEEN)


def _part(part: Part, hue: int | None, y: float) -> _Drawn:
    """The sentences of a step and its states, joined by a line with its number."""
    left, said = y, list[str]()
    for one in part.sentences:
        rows = [
            row
            for line in text_of(one).split("\n")
            for row in wrap(line, _SIZE, _TEXT - 16, _MOST_ROWS)
        ][:_MOST_ROWS]
        height = len(rows) * _ROW + 4
        is_open = part.is_open(one)
        if is_open:
            said.append(_box(_MARGIN, left, _JOINT_X - _MARGIN - 10, height, "open"))
        base = left + _ROW - 3
        said.append(_words((lines_of(one),), _TEXT_X - 8, base, "line", 0))
        said.append(_words(rows, _TEXT_X, base, "text", _ROW))
        place = _words((PLACE[one.place],), _PLACE_X, base, "wrong" if is_open else "note", 0)
        said.append(place)
        left += height
    right, became = y, list[str]()
    if part.again:
        names = ", ".join(one.name for one in part.states)
        rows = wrap(f"{names}, as above", _SMALL, _STATES - 20, 3)
        became.append(_words(rows, _STATES_X + 10, right + 12, "note", _SMALL_ROW))
        right += len(rows) * _SMALL_ROW + 4
    elif part.states:
        for state in part.states:
            drawn = _state(state, _STATES_X + 10, right, _STATES - 10, hue)
            became += drawn.shapes
            right += drawn.height
    else:
        is_gap = any(map(part.is_open, part.sentences))
        kind = "wrong" if is_gap else "note"
        became.append(_words((where(part),), _STATES_X + 10, right + 14, kind, 0))
        right += _ROW
    end = max(left, right)
    edge = "plain" if hue is None else f"e{hue}"
    shapes = [
        f'<path class="edge {edge}" d="M{_JOINT_X} {y}V{left:.1f}M{_STATES_X} {y}V{right:.1f}"/>'
    ]
    if part.step is not None:
        shapes += _joint(part, edge, hue or 0, y + min(left - y, right - y) / 2)
    return _Drawn((*shapes, *said, *became), end - y + _BETWEEN)


def _joint(part: Part, edge: str, hue: int, y: float) -> Iterator[str]:
    number = str(part.step)
    if part.states:
        dashed = " again" if part.again else ""
        yield f'<path class="edge {edge}{dashed}" d="M{_JOINT_X} {y:.1f}H{_STATES_X}"/>'
    width = max(width_of(number, _SIZE, bold=True) + 14, 24)
    middle = _JOINT_X + _JOINT / 2
    kind = f"g{hue}" if part.states else "open"
    yield _box(middle - width / 2, y - 10, width, 20, kind, 10)
    yield _words((number,), middle, y + 4.5, "number", 0)


def _state(one: SeenState, x: float, y: float, width: float, hue: int | None) -> _Drawn:
    name = wrap(f"{one.name} ({one.type})", _SIZE, width - 2 * _PAD, 2, bold=True)
    told = " · ".join(filter(None, (one.does, "edited by hand" if one.edited else "")))
    notes = wrap(told, _SMALL, width - 2 * _PAD, 2) if told else []
    height = len(name) * _ROW + len(notes) * _SMALL_ROW + _PAD
    kind = {"loose": "open", "frame": "frame"}.get(one.role, "frame" if hue is None else f"g{hue}")
    shapes = (
        _box(x, y, width, height, kind),
        _words(name, x + _PAD, y + _ROW - 1, "name", _ROW),
        _words(
            notes,
            x + _PAD,
            y + len(name) * _ROW + 11,
            "wrong small" if one.edited else "note",
            _SMALL_ROW,
        ),
    )
    return _Drawn(shapes, height + 5)


def _rest(title: str, states: tuple[SeenState, ...], y: float) -> _Drawn:
    """States without sentences, in rows below all else."""
    shapes, top = [_words((title,), _MARGIN, y + 20, "name", 0)], y + 30
    columns = 3
    width = (_WIDTH - 2 * _MARGIN) / columns - 10
    for start in range(0, len(states), columns):
        drawn = [
            _state(one, _MARGIN + at * (width + 15), top, width, None)
            for at, one in enumerate(states[start : start + columns])
        ]
        shapes += [shape for one in drawn for shape in one.shapes]
        top += max(one.height for one in drawn)
    return _Drawn(tuple(shapes), top - y + _BETWEEN)


def _box(x: float, y: float, width: float, height: float, kind: str, round_: float = 6) -> str:
    return (
        f'<rect class="box {kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{round_:g}"/>'
    )


def _words(
    rows: tuple[str, ...] | list[str], x: float, y: float, kind: str, row_height: float
) -> str:
    return "".join(
        f'<text class="{kind}" x="{x:.1f}" y="{y + at * row_height:.1f}">{_text(row)}</text>'
        for at, row in enumerate(rows)
    )


def _style(theme: Theme) -> str:
    wrong = theme.kinds["Fail"][0]
    size, small = f"font-size:{_SIZE:g}px", f"font-size:{_SMALL:g}px"
    rules = {
        "paper": f"fill:{theme.paper}",
        "title": f"fill:{theme.ink};font-size:20px;font-weight:600",
        "name": f"fill:{theme.ink};{size};font-weight:600",
        "number": f"fill:{theme.ink};{size};font-weight:600;text-anchor:middle",
        "text": f"fill:{theme.ink};{size};white-space:pre",
        "wrong": f"fill:{theme.error};{size};font-weight:600",
        "small": small,
        "note": f"fill:{theme.muted};{small}",
        "middle": "text-anchor:middle",
        "rule": f"fill:none;stroke:{theme.line};stroke-opacity:.5",
        "line": f"fill:{theme.muted};{small};text-anchor:end",
        "box": "stroke-width:1.5",
        "open": f"fill:{wrong};stroke:{theme.error};stroke-dasharray:5 4",
        "frame": f"fill:{theme.paper};stroke:{theme.line};stroke-dasharray:5 4",
        "edge": "fill:none;stroke-width:3.5",
        "plain": f"stroke:{theme.line};stroke-opacity:.5",
        "again": "stroke-dasharray:4 5",
    }
    for at, (ground, border) in enumerate(colours(theme)):
        rules[f"g{at}"] = f"fill:{ground};stroke:{border}"
        rules[f"e{at}"] = f"stroke:{border}"
    return "".join(f".{name}{{{rule}}}" for name, rule in rules.items())


def _text(text: str) -> str:
    return escape(clean(text))
