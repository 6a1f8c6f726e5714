"""The comparisons of JSONPath filters, which treat types more loosely than Choice rules do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import regex

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonpath.known_array import KnownArray, number_in
from dcf.asl.payload import JSON, is_number, same

Compare: TypeAlias = Callable[[Any, Any, Budget], bool]

UNDEFINED = object()
"""What a path of a filter gives when it selects nothing."""


class Pattern:
    """A regular expression that a whole text must match, within the time that is left."""

    __slots__ = ("_pattern",)

    def __init__(self, pattern: regex.Pattern[str]) -> None:
        self._pattern = pattern

    def matches(self, text: JSON, budget: Budget) -> bool:
        if not isinstance(text, str):
            return False
        try:
            timeout = budget.regex_seconds()
            return self._pattern.fullmatch(text, timeout=timeout) is not None
        except TimeoutError:
            raise budget.timed_out() from None


def _equal(left: Any, right: Any) -> bool:
    """JSON equality, and a number equals the text that writes it. Nothing equals what is not
    there."""
    if left is UNDEFINED or right is UNDEFINED:
        return False
    if is_number(left) and isinstance(right, str):
        return bool(number_in(right) == left)
    if is_number(right) and isinstance(left, str):
        return bool(number_in(left) == right)
    return not isinstance(left, Pattern) and not isinstance(right, Pattern) and same(left, right)


def _identical(left: Any, right: Any) -> bool:
    return left is not UNDEFINED and right is not UNDEFINED and same(left, right)


def _ordered(order: Callable[[Any, Any], bool]) -> Compare:
    def compare(left: Any, right: Any, _: Budget) -> bool:
        both_numbers = is_number(left) and is_number(right)
        both_texts = isinstance(left, str) and isinstance(right, str)
        return (both_numbers or both_texts) and order(left, right)

    return compare


def _matches(left: Any, right: Any, budget: Budget) -> bool:
    if isinstance(right, Pattern):
        return right.matches(left, budget)
    return isinstance(left, Pattern) and left.matches(right, budget)


def _is_in(left: Any, right: Any, budget: Budget) -> bool:
    if left is UNDEFINED or not isinstance(right, list):
        return False
    budget.work(8 * len(right))
    if isinstance(right, KnownArray) and not isinstance(left, (list, dict, Pattern)):
        return right.has(left)
    return any(_equal(left, item) for item in right)


def _not_in(left: Any, right: Any, budget: Budget) -> bool:
    return isinstance(right, (list, dict)) and not _is_in(left, right, budget)


def _contains(left: Any, right: Any, budget: Budget) -> bool:
    if isinstance(left, str):
        return isinstance(right, str) and right in left
    return _is_in(right, left, budget)


def _subset(left: Any, right: Any, budget: Budget) -> bool:
    return isinstance(left, list) and all(_is_in(item, right, budget) for item in left)


def _any_of(left: Any, right: Any, budget: Budget) -> bool:
    if isinstance(left, KnownArray) and isinstance(right, list):
        left, right = right, left
    return isinstance(left, list) and any(_is_in(item, right, budget) for item in left)


def _none_of(left: Any, right: Any, budget: Budget) -> bool:
    both = isinstance(left, list) and isinstance(right, list)
    return both and not _any_of(left, right, budget)


def _size(left: Any, right: Any, _: Budget) -> bool:
    return isinstance(left, (list, str)) and is_number(right) and len(left) == right


def _empty(left: Any, right: Any, _: Budget) -> bool:
    return isinstance(left, (list, str)) and (not left) is right


COMPARISONS: dict[str, Compare] = {
    "==": lambda left, right, _: _equal(left, right),
    "!=": lambda left, right, _: not _equal(left, right),
    "===": lambda left, right, _: _identical(left, right),
    "!==": lambda left, right, _: not _identical(left, right),
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "=~": _matches,
    "in": _is_in,
    "nin": _not_in,
    "contains": _contains,
    "subsetof": _subset,
    "anyof": _any_of,
    "noneof": _none_of,
    "size": _size,
    "empty": _empty,
    # Its right side is a class of Java, which no text can name.
    "type": lambda left, right, _: False,
}
"""Every operator of a filter by its sign, in lower case."""
