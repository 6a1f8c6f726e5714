"""Plain field paths, ``$states.input.a.b``, read without the JSONata evaluator."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from dcf.asl.jsonata.value import LARGEST_EXACT
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope

Shortcut: TypeAlias = Callable[[Scope], tuple[bool, JSON]]
"""Whether it could answer, and the answer; when not, the evaluator must."""

ReadIndex: TypeAlias = Callable[[Any], Shortcut | None]
"""Of the tree of an index, what reads its value; None where an item may change it."""

_NO = (False, None)


def read_shortcut(tree: Any, read_index: ReadIndex) -> Shortcut | None:
    """A reader of ``$name`` or ``$name.field[index].field``; None for any other expression.

    An index is a number, again such a path, or what ``read_index`` has a reader for. The reader
    answers only while every value on the way is an object (an array where an index follows) and
    the last one is there: other arrays on the way are mapped over, which is the evaluator's
    matter, as are numbers that JSONata writes in its own way (``1.0``), wherever they stand.
    """
    way = _way(tree, read_index)
    if way is None:
        return None
    root, *steps = way

    def read(scope: Scope) -> tuple[bool, JSON]:
        value: JSON = scope.states if root == "states" else scope.variables.get(str(root), _NO)
        for step in steps:
            if isinstance(step, str):
                found, value = _field(value, step)
            else:
                found, value = _item(value, step(scope))
            if not found:
                return _NO
        if value is _NO or _is_written_otherwise(value):
            return _NO
        return True, value

    return read


def _field(value: JSON, name: str) -> tuple[bool, JSON]:
    if type(value) is not dict or name not in value:
        return _NO
    return True, value[name]


def _item(value: JSON, index: tuple[bool, JSON]) -> tuple[bool, JSON]:
    position = index[1]
    if type(value) is not list or type(position) is not int:
        return _NO
    if not -len(value) <= position < len(value):
        return _NO
    item = value[position]
    return _NO if type(item) is list else (True, item)


def _is_written_otherwise(value: JSON) -> bool:
    """Whether a number in ``value`` is none that ``plain`` leaves as it is: ``1.0``, ``2**63``."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is dict or kind is list:
            if id(item) not in seen:  # what stands in many places is looked at once
                seen.add(id(item))
                waiting.extend(item.values() if kind is dict else item)
        elif (kind is int or kind is float) and _changes(item):
            return True
    return False


def _changes(number: float) -> bool:
    if isinstance(number, int):
        return not -LARGEST_EXACT <= number < LARGEST_EXACT
    return number.is_integer() or not math.isfinite(number)


def plain_steps(path: Any) -> tuple[Any, tuple[str, ...]] | None:
    """The first step of a path and the field names after it; None when it does more than that.

    Found once and kept on the node.
    """
    kept = path.__dict__.get("plain", _NO)
    if kept is not _NO:
        return cast("tuple[Any, tuple[str, ...]] | None", kept)
    path.plain = found = _plain_steps(path)
    return found


def _plain_steps(path: Any) -> tuple[Any, tuple[str, ...]] | None:
    steps = path.steps if path.type == "path" else [path]
    if has_more(path) or any(has_more(step) for step in steps):
        return None
    first, *rest = steps
    if first.type not in ("variable", "name") or any(step.type != "name" for step in rest):
        return None
    return first, tuple(str(step.value) for step in rest)


def _way(tree: Any, read_index: ReadIndex) -> tuple[str | Shortcut, ...] | None:
    """The variable, then fields and readers of indices; None for what is no such path."""
    steps = tree.steps if tree.type == "path" else [tree]
    if tree.type == "path" and has_more(tree):
        return None
    if steps[0].type != "variable" or steps[0].value in ("", "$"):
        return None
    if any(step.type != "name" for step in steps[1:]):
        return None
    way: list[str | Shortcut] = []
    for step in steps:
        way.append(str(step.value))
        filters = [*(step.predicate or ()), *(step.stages or ())]
        if has_more(step, filters=True) or len(filters) > 1:
            return None
        for part in filters:
            index = _index(part, read_index)
            if index is None:
                return None
            way.append(index)
    return tuple(way)


def _index(part: Any, read_index: ReadIndex) -> Shortcut | None:
    if part.type != "filter":
        return None
    if part.expr.type == "number":
        answer = (True, part.expr.value)
        return lambda _: answer
    return read_shortcut(part.expr, read_index) or read_index(part.expr)


def has_more(node: Any, *, filters: bool = False) -> bool:
    """Whether a node carries a grouping, a binding, ``[]`` or, unless ``filters``, a filter."""
    parts = [node.group, node.focus, node.index, node.tuple]
    if not filters:
        parts += [node.predicate, node.stages]
    flags = (node.keep_array, node.keep_singleton_array, node.ancestor is not None)
    return any(part is not None for part in parts) or any(flags)
