"""Plain field paths, ``$states.input.a.b``, read without the JSONata evaluator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from dcf.asl.jsonata.value import LARGEST_EXACT
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope

Shortcut: TypeAlias = Callable[[Scope], tuple[bool, JSON]]
"""Whether it could answer, and the answer; when not, the evaluator must."""

_NO = (False, None)


def read_shortcut(tree: Any) -> Shortcut | None:
    """A reader of ``$name`` or ``$name.field.field``; None for any other expression.

    It answers only while every value on the way is an object and the last one is there: arrays on
    the way are mapped over, which is the evaluator's matter, as are numbers that JSONata writes
    in its own way (``1.0``).
    """
    names = _names(tree)
    if names is None:
        return None
    root, *fields = names

    def read(scope: Scope) -> tuple[bool, JSON]:
        value: JSON = scope.states if root == "states" else scope.variables.get(root, _NO)
        for field in fields:
            if type(value) is not dict or field not in value:
                return _NO
            value = value[field]
        if value is _NO or _is_written_otherwise(value):
            return _NO
        return True, value

    return read


def _is_written_otherwise(value: JSON) -> bool:
    return type(value) is float or (type(value) is int and abs(value) >= LARGEST_EXACT)


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
    if _is_more(path) or any(_is_more(step) for step in steps):
        return None
    first, *rest = steps
    if first.type not in ("variable", "name") or any(step.type != "name" for step in rest):
        return None
    return first, tuple(str(step.value) for step in rest)


def _names(tree: Any) -> tuple[str, ...] | None:
    plain = plain_steps(tree)
    if plain is None or plain[0].type != "variable" or plain[0].value in ("", "$"):
        return None
    return (str(plain[0].value), *plain[1])


def _is_more(node: Any) -> bool:
    """Whether a node carries a filter, a grouping, a binding or ``[]``."""
    parts = (node.predicate, node.stages, node.group, node.focus, node.index, node.tuple)
    flags = (node.keep_array, node.keep_singleton_array, node.ancestor is not None)
    return any(part is not None for part in parts) or any(flags)
