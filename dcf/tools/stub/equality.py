"""When two JSON values are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def same(left: Any, right: Any) -> bool:
    """JSON equality: ``1`` is ``1.0``, but neither ``true`` nor ``"1"`` is ``1``.

    >>> same(1, 1.0), same(True, 1), same("1", 1), same([{"a": None}], [{"a": None}])
    (True, False, False, True)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return type(left) is type(right) and bool(left == right)
