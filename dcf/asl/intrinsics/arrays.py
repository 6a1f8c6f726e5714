"""Intrinsic functions that make and read arrays."""

from __future__ import annotations

from collections.abc import Hashable

from dcf.asl.intrinsics.arguments import expect_array, expect_integer, failure
from dcf.asl.payload import JSON, kind, same

MAX_RANGE = 1000
"""Most elements that ``States.ArrayRange`` makes (a Step Functions limit)."""


def array(*items: JSON) -> list[JSON]:
    """``States.Array(a, b, …)``"""
    return list(items)


def array_partition(items: JSON, length: JSON) -> list[list[JSON]]:
    """``States.ArrayPartition(array, length)``: chunks of ``length``, the last may be shorter."""
    checked = expect_array("ArrayPartition", items)
    step = expect_integer("ArrayPartition", length)
    if step < 1:
        raise failure("ArrayPartition", f"the chunk length must be at least 1, not {step}")
    return [checked[start : start + step] for start in range(0, len(checked), step)]


def array_contains(items: JSON, wanted: JSON) -> bool:
    """``States.ArrayContains(array, value)``"""
    return any(same(item, wanted) for item in expect_array("ArrayContains", items))


def array_range(first: JSON, last: JSON, step: JSON) -> list[int]:
    """``States.ArrayRange(first, last, step)``: ``last`` is included when a step lands on it."""
    start, end, by = (expect_integer("ArrayRange", value) for value in (first, last, step))
    if by == 0:
        raise failure("ArrayRange", "the step must not be 0")
    count = max(0, (end - start) // by + 1)
    if count > MAX_RANGE:
        raise failure("ArrayRange", f"{count} elements are more than {MAX_RANGE}")
    return [start + by * position for position in range(count)]


def array_get_item(items: JSON, index: JSON) -> JSON:
    """``States.ArrayGetItem(array, index)``: counts from 0."""
    checked = expect_array("ArrayGetItem", items)
    at = expect_integer("ArrayGetItem", index)
    if not 0 <= at < len(checked):
        raise failure("ArrayGetItem", f"index {at} is outside an array of {len(checked)}")
    return checked[at]


def array_length(items: JSON) -> int:
    """``States.ArrayLength(array)``"""
    return len(expect_array("ArrayLength", items))


def array_unique(items: JSON) -> list[JSON]:
    """``States.ArrayUnique(array)``: the first of each group of equal elements, in order."""
    unique: dict[Hashable, JSON] = {}
    for item in expect_array("ArrayUnique", items):
        unique.setdefault(_key(item), item)
    return list(unique.values())


def _key(value: JSON) -> Hashable:
    """The same for values that are ``same``, so that no two elements need be compared."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list):
        return "array", tuple(_key(item) for item in value)
    return kind(value), value
