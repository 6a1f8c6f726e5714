"""Values between JSON and the JSONata library, which has its own null and its own lists.

In the library ``None`` is *undefined* (nothing is there) and ``NULL`` is JSON's null.
"""

from __future__ import annotations

import math
from typing import Any

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonata.library import Utils
from dcf.asl.payload import JSON

NULL = Utils.NULL_VALUE
LARGEST_EXACT = 2**63
"""Integers from here on are floating point numbers, as in Step Functions."""


class NotData(Exception):
    """A result holds a function, which is no JSON."""


def defined(value: JSON) -> Any:
    """A JSON value as the library takes it: null is not undefined; a list is checked one level."""
    if value is None:
        return NULL
    if type(value) is list and None in value:
        return [NULL if item is None else item for item in value]
    return value


def plain(value: Any, budget: Budget) -> JSON:
    """A result of the library as JSON that shares no list with it but those of the input.

    Parts that are JSON already are not copied. Raises NotData for functions, LimitReached when the
    value is too big. Numbers without end become text: ``"Infinity"``, ``"NaN"``.
    """
    if value is None or value is NULL:
        return None
    kind = type(value)
    if kind is str:
        budget.grow(len(value))
        return value
    if kind is bool:
        return value
    if kind is int or kind is float:
        budget.grow(8)
        return plain_number(value)
    if isinstance(value, dict):
        return _plain_object(value, budget)
    if isinstance(value, list):
        return _plain_array(value, budget)
    raise NotData


def plain_number(value: float) -> JSON:
    """``3.0`` is 3; beyond 64 bits an integer is a float; no number is infinite."""
    if isinstance(value, int):
        return value if -LARGEST_EXACT <= value < LARGEST_EXACT else _float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return int(value) if value.is_integer() and abs(value) < LARGEST_EXACT else value


def _float(value: int) -> JSON:
    try:
        return float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


def _plain_object(value: dict[str, Any], budget: Budget) -> JSON:
    _descend(budget)
    changed = False
    result: dict[str, Any] = {}
    for key, item in value.items():
        budget.grow(len(key))
        result[key] = inner = plain(item, budget)
        changed = changed or inner is not item
    budget.leave()
    return result if changed else value


def _plain_array(value: list[Any], budget: Budget) -> JSON:
    _descend(budget)
    result = [plain(item, budget) for item in value]
    budget.leave()
    unchanged = type(value) is list and all(
        left is right for left, right in zip(result, value, strict=True)
    )
    return value if unchanged else result


def _descend(budget: Budget) -> None:
    budget.enter()
    budget.grow(8)


def weigh(value: Any, budget: Budget) -> None:
    """Raise LimitReached when ``value``, written out in full, is too big.

    What an expression builds may hold the same part many times; walking or writing that would
    never end.
    """
    size = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, dict):
            size += 8 + sum(map(len, item))
            waiting.extend(item.values())
        elif isinstance(item, list):
            size += 8
            waiting.extend(item)
        else:
            size += 8
        # What waits is at least so big, but for empty texts, and takes memory itself.
        budget.work(max(size, len(waiting)))


def equal(left: Any, right: Any) -> bool:
    """Deep equality, where the library's null and JSON's are one and ``true`` is not 1."""
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(equal(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return (
            isinstance(right, list)
            and len(left) == len(right)
            and all(equal(a, b) for a, b in zip(left, right, strict=True))
        )
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return (None if left is NULL else left) == (None if right is NULL else right)


def copied(value: Any, budget: Budget) -> Any:
    """A deep copy; raises LimitReached when ``value`` is too big."""
    weigh(value, budget)
    return _copy(value)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copy(item) for item in value]
    return value
