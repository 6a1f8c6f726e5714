"""Machines to draw: generated ones, and what must hold of every picture."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from dcf.diagram.shapes import Box, Line, Marker, Picture, Rect, Title

Definition = dict[str, Any]

_NAMES = st.one_of(
    st.sampled_from(["A", "B", "end", 'say "hi"', "a<b>&c", "x" * 80, "状態", "two words", "]["]),
    st.text(min_size=1, max_size=12),
)
_CONDITIONS = st.sampled_from(
    [
        {"Variable": "$.a", "NumericGreaterThan": 5},
        {"Variable": "$.name", "StringMatches": "*.log"},
        {
            "And": [
                {"Variable": "$.b", "IsPresent": True},
                {"Variable": "$.b", "BooleanEquals": True},
            ]
        },
        {"Condition": "{% $states.input.total > 100 and $exists(customer) %}"},
    ]
)


@st.composite
def machines(draw: st.DrawFn, depth: int = 2) -> Definition:
    """A machine with loops, catches, choices, and machines inside of its states."""
    names = draw(st.lists(_NAMES, min_size=1, max_size=7, unique=True))
    target = st.sampled_from(names)
    return {"StartAt": names[0], "States": {name: draw(_states(target, depth)) for name in names}}


@st.composite
def _states(draw: st.DrawFn, target: st.SearchStrategy[str], depth: int) -> Definition:
    kinds = ["Task", "Pass", "Choice", "Wait", "Succeed", "Fail", "End"]
    kind = draw(st.sampled_from(kinds + (["Map", "Parallel"] if depth else [])))
    if kind == "Choice":
        rules = draw(st.lists(st.tuples(_CONDITIONS, target), min_size=1, max_size=4))
        choices = [{**condition, "Next": next_} for condition, next_ in rules]
        return {"Type": "Choice", "Choices": choices, "Default": draw(target)}
    if kind in ("Succeed", "Fail"):
        return {"Type": kind}
    state: Definition = {"Type": "Pass" if kind == "End" else kind}
    state |= {"End": True} if kind == "End" or draw(st.booleans()) else {"Next": draw(target)}
    if kind == "Wait":
        state["Seconds"] = draw(st.integers(0, 10**6))
    if kind == "Map":
        state["ItemProcessor"] = draw(machines(depth - 1))
    if kind == "Parallel":
        state["Branches"] = draw(st.lists(machines(depth - 1), min_size=1, max_size=3))
    if kind in ("Task", "Map", "Parallel"):
        errors = st.sampled_from(["States.ALL", "States.Timeout", "E"])
        caught = draw(st.lists(st.tuples(errors, target), max_size=2))
        state["Catch"] = [{"ErrorEquals": [error], "Next": next_} for error, next_ in caught]
    return state


def check_geometry(picture: Picture) -> None:
    """Nothing overlaps that is not inside of the other; lines touch only what they belong to."""
    boxes = [shape for shape in picture.shapes if isinstance(shape, Box)]
    markers = [shape for shape in picture.shapes if isinstance(shape, Marker)]
    frames = [shape for shape in picture.shapes if isinstance(shape, Title)]
    lines = [shape for shape in picture.shapes if isinstance(shape, Line)]
    solid = [*boxes, *markers]
    labels = [line.label for line in lines if line.label is not None]
    page = Rect(0, 0, picture.width, picture.height)
    for rect in [*(shape.rect for shape in (*solid, *frames)), *labels]:
        assert _inside(rect, page)
    for number, one in enumerate(solid):
        for other in solid[number + 1 :]:
            nested = _is_frame_of(one, other) or _is_frame_of(other, one)
            assert nested or not _overlap(one.rect, other.rect), (one, other)
    leaves = [shape for shape in solid if not (isinstance(shape, Box) and shape.frame)]
    for number, label in enumerate(labels):
        assert not any(_overlap(label, leaf.rect) for leaf in leaves)
        assert not any(_overlap(label, other) for other in labels[number + 1 :])
    for box in boxes:
        for around in boxes:
            if around.frame and _holds(around, box):
                assert _inside(box.rect, around.rect), (box, around)
    for line in lines:
        _check_line(line, leaves, boxes, labels)


def _check_line(line: Line, leaves: list[Any], boxes: list[Box], labels: list[Rect]) -> None:
    for one, two in pairwise(line.points):
        assert one[0] == two[0] or one[1] == two[1], "lines are upright or level"
        span = _span(one, two)
        for leaf in leaves:
            assert not _overlap(span, leaf.rect), (line, leaf)
        for label in labels:
            assert label == line.label or not _overlap(span, label), (line, label)
        for box in boxes:
            if box.frame:
                apart = not _overlap(span, box.rect)
                assert apart or _inside(span, box.rect), "a line crosses the border of a box"
    if line.label is not None:
        assert any(_overlap(_span(*two), line.label) for two in pairwise(line.points)) or (
            line.edge is not None and line.edge.source == line.edge.target
        )


def _is_frame_of(outer: Any, inner: Any) -> bool:
    if not (isinstance(outer, Box) and outer.frame):
        return False
    return _holds(outer, inner) if isinstance(inner, Box) else _inside(inner.rect, outer.rect)


def _holds(outer: Box, inner: Box) -> bool:
    length = len(outer.node.place)
    return len(inner.node.place) > length and inner.node.place[:length] == outer.node.place


def _span(one: tuple[float, float], two: tuple[float, float]) -> Rect:
    left, top = min(one[0], two[0]), min(one[1], two[1])
    return Rect(left, top, abs(one[0] - two[0]), abs(one[1] - two[1]))


def _overlap(one: Rect, two: Rect) -> bool:
    slack = 0.1
    return (
        (
            one.x + slack < two.x + two.width
            and two.x + slack < one.x + one.width
            and one.y + slack < two.y + two.height
            and two.y + slack < one.y + one.height
        )
        if one.width > 0 and one.height > 0
        else _crosses(one, two, slack)
    )


def _crosses(line: Rect, box: Rect, slack: float) -> bool:
    """Whether a line (no width or no height) runs through ``box``, not along its border."""
    return (
        line.x < box.x + box.width - slack
        and box.x + slack < line.x + line.width
        and line.y < box.y + box.height - slack
        and box.y + slack < line.y + line.height
    )


def _inside(inner: Rect, outer: Rect) -> bool:
    slack = 0.1
    return (
        inner.x >= outer.x - slack
        and inner.y >= outer.y - slack
        and inner.x + inner.width <= outer.x + outer.width + slack
        and inner.y + inner.height <= outer.y + outer.height + slack
    )
