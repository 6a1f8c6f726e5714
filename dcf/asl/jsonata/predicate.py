"""JSONata's filters, ``array[predicate]``: by position, or by what holds for an item.

A predicate that reads nothing of the item says the same for each of them, and is evaluated once:
an index that a variable holds costs the same in an array of any length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from dcf.asl.jsonata.library import Jsonata, Utils
from dcf.asl.jsonata.shortcut import has_more, plain_steps
from dcf.asl.jsonata.value import NULL

_FIXED = frozenset({"number", "string", "value"})


def filtered(evaluation: Any, predicate: Any, input: Any, environment: Any) -> Any:
    """The items of ``input`` that ``predicate`` selects, as a sequence of the library.

    Numbers select by position, rounded down, negative ones from the end; anything else selects
    the items for which it is true.
    """
    items = input if isinstance(input, list) else Utils.create_sequence()
    if input is not None and items is not input:
        items = Utils.create_sequence(input)
    if predicate.type == "number":
        return _at(items, predicate.value)
    found = Utils.create_sequence()
    found.tuple_stream = isinstance(items, Utils.JList) and items.tuple_stream
    if not items:
        return found
    if not found.tuple_stream and is_steady(predicate):
        found.extend(_chosen(items, evaluation.eval(predicate, items[0], environment)))
        return found
    for index, item in enumerate(items):
        context, frame = item, environment
        if found.tuple_stream:
            context, frame = item["@"], evaluation.create_frame_from_tuple(environment, item)
        verdict = evaluation.eval(predicate, context, frame)
        positions = _positions(verdict, len(items))
        if positions is None:
            times = 1 if Jsonata.boolize(verdict) else 0
        else:
            evaluation.budget.tick(len(positions))
            times = sum(position == index for position in positions)
        found.extend([item] * times)
    return found


def is_steady(node: Any) -> bool:
    """Whether ``node`` reads variables and constants only, so that no item changes its value.

    Found once and kept on the node.
    """
    kept: bool | None = node.__dict__.get("steady")
    if kept is None:
        kept = node.steady = _is_steady(node)
    return kept


def _is_steady(node: Any) -> bool:
    if has_more(node):
        return False
    if node.type in _FIXED:
        return True
    if node.type in ("variable", "path"):
        plain = plain_steps(node)
        return plain is not None and plain[0].type == "variable" and plain[0].value not in ("", "$")
    if node.type == "binary":
        return is_steady(node.lhs) and is_steady(node.rhs)
    if node.type == "unary":
        return bool(node.value == "-") and is_steady(node.expression)
    return bool(node.type == "block") and all(is_steady(part) for part in node.expressions)


def _at(items: list[Any], number: float) -> Any:
    position = _position(number, len(items))
    found = Utils.create_sequence()
    if not 0 <= position < len(items):
        return found
    item = NULL if items[position] is None else items[position]
    if isinstance(item, list):
        return item
    found.append(item)
    return found


def _chosen(items: list[Any], verdict: Any) -> Iterable[Any]:
    positions = _positions(verdict, len(items))
    if positions is None:
        return items if Jsonata.boolize(verdict) else ()
    return (items[position] for position in sorted(positions) if 0 <= position < len(items))


def _positions(verdict: Any, count: int) -> list[int] | None:
    """The positions that a number or an array of numbers names; None for anything else."""
    if Utils.is_numeric(verdict):
        return [_position(verdict, count)]
    if Utils.is_array_of_numbers(verdict):
        return [_position(number, count) for number in verdict]
    return None


def _position(number: float, count: int) -> int:
    position = math.floor(number)
    return position + count if position < 0 else position
