"""The comparisons of JSONPath filters, which treat types more loosely than Choice rules do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import regex

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonpath.known_array import KnownArray
from dcf.asl.jsonpath.number_text import compared_text, number_in
from dcf.asl.payload import JSON, is_number, same, text_order

Compare: TypeAlias = Callable[[Any, Any, Budget], bool]

_COMPARED, _SEARCHED = 1_000, 100
"""Characters of texts that are compared, or searched, in about the time of one step."""

UNDEFINED = object()
"""What a path of a filter gives when it selects nothing."""


class Pattern:
    """A regular expression that a whole text must match, within the time that is left.

    A number and a boolean are searched as their text, an array for one item that matches. All
    else, what is missing too, is the empty text (Jayway's rule).
    """

    __slots__ = ("_pattern",)

    def __init__(self, pattern: regex.Pattern[str]) -> None:
        self._pattern = pattern

    def matches(self, value: Any, budget: Budget) -> bool:
        items = value if isinstance(value, list) else [value]
        budget.tick(len(items))
        return any(self._matches_text(_searched(item), budget) for item in items)

    def _matches_text(self, text: str, budget: Budget) -> bool:
        try:
            budget.tick(len(text) // _SEARCHED)
            timeout = budget.regex_seconds()
            return self._pattern.fullmatch(text, timeout=timeout) is not None
        except TimeoutError:
            raise budget.timed_out() from None


def _searched(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return compared_text(value) if is_number(value) else ""


def _equal(left: Any, right: Any, budget: Budget) -> bool:
    """JSON equality; a number equals each text that writes it (``10 == '10.0'``), and a text the
    number that is written like it (``'10' == 10``, not ``'10.0' == 10``), as in Jayway. Nothing
    equals what is not there."""
    if left is UNDEFINED or right is UNDEFINED:
        return False
    if is_number(left) and isinstance(right, str):
        return bool(number_in(right) == left)
    if is_number(right) and isinstance(left, str):
        return left == compared_text(right)
    patterns = isinstance(left, Pattern) or isinstance(right, Pattern)
    return not patterns and _same(left, right, budget)


def _identical(left: Any, right: Any, budget: Budget) -> bool:
    return left is not UNDEFINED and right is not UNDEFINED and _same(left, right, budget)


def _same(left: JSON, right: JSON, budget: Budget) -> bool:
    """``same``, for which each value and each piece of a text counts that is looked at."""
    if isinstance(left, str) and isinstance(right, str):
        if len(left) == len(right):
            _look_at(len(left), budget)
        return left == right
    if isinstance(left, dict) and isinstance(right, dict):
        if len(left) != len(right):
            return False
        budget.tick(len(left))
        _look_at(sum(map(len, left)), budget)
        return left.keys() == right.keys() and all(
            _same(value, right[key], budget) for key, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            return False
        budget.tick(len(left))
        return all(_same(one, other, budget) for one, other in zip(left, right, strict=True))
    return same(left, right)


def _look_at(characters: int, budget: Budget) -> None:
    """Texts of so many characters are compared: short ones are part of the step they stand in."""
    if characters >= _COMPARED:
        budget.tick(characters // _COMPARED)


def _ordered(order: Callable[[Any, Any], bool]) -> Compare:
    def compare(left: Any, right: Any, budget: Budget) -> bool:
        both_numbers = is_number(left) and is_number(right)
        both_texts = isinstance(left, str) and isinstance(right, str)
        if both_texts:
            _look_at(min(len(left), len(right)), budget)
            return order(text_order(left), text_order(right))
        return both_numbers and order(left, right)

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
        if isinstance(left, str):
            _look_at(len(left), budget)
        return right.has(left)
    budget.tick(len(right))
    return any(_equal(left, item, budget) for item in right)


def _not_in(left: Any, right: Any, budget: Budget) -> bool:
    return isinstance(right, (list, dict)) and not _is_in(left, right, budget)


def _contains(left: Any, right: Any, budget: Budget) -> bool:
    if isinstance(left, str):
        budget.tick(len(left) // _SEARCHED)
        return isinstance(right, str) and right in left
    return _is_in(right, left, budget)


def _subset(left: Any, right: Any, budget: Budget) -> bool:
    return isinstance(left, list) and all(_is_in(item, right, budget) for item in left)


def _any_of(left: Any, right: Any, budget: Budget) -> bool:
    if isinstance(left, KnownArray) and isinstance(right, list):
        return any(_is_given(item, left, budget) for item in right)
    return isinstance(left, list) and any(_is_in(item, right, budget) for item in left)


def _is_given(right: Any, left: KnownArray, budget: Budget) -> bool:
    """Whether an item of ``left`` equals ``right``."""
    if not isinstance(right, (list, dict)):
        return left.gives(right)
    budget.tick(len(left))
    return any(_equal(item, right, budget) for item in left)


def _none_of(left: Any, right: Any, budget: Budget) -> bool:
    both = isinstance(left, list) and isinstance(right, list)
    return both and not _any_of(left, right, budget)


def _size(left: Any, right: Any, _: Budget) -> bool:
    return isinstance(left, (list, str)) and is_number(right) and len(left) == right


def _empty(left: Any, right: Any, _: Budget) -> bool:
    return isinstance(left, (list, str)) and (not left) is right


COMPARISONS: dict[str, Compare] = {
    "==": _equal,
    "!=": lambda left, right, budget: not _equal(left, right, budget),
    "===": _identical,
    "!==": lambda left, right, budget: not _identical(left, right, budget),
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
    # Their right sides are a class and a list of Java, which no text can write.
    "type": lambda left, right, _: False,
    "all": lambda left, right, _: False,
}
"""Every operator of a filter by its sign, in lower case."""
