"""The functions of a JSONPath: what they compute from what it selected, and from arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonpath.number_text import joined_text
from dcf.asl.payload import JSON, is_integer, is_number


class NoValue(Exception):
    """A function has nothing to compute from, or no number for what it computes."""


Function: TypeAlias = Callable[[JSON, list[JSON], Budget], JSON]
"""(What the path selected, the values of the arguments, what it may use). Raises NoValue."""


def _numbers(value: JSON, more: list[JSON], budget: Budget) -> list[float]:
    values = [*_items(value), *_flat(more)]
    budget.spend(len(values))
    budget.tick(len(values))
    try:
        numbers = [float(item) for item in values if is_number(item)]
    except OverflowError as error:
        raise NoValue from error
    if not numbers:
        raise NoValue
    return numbers


def _items(value: JSON) -> list[Any]:
    return value if isinstance(value, list) else []


def _flat(arguments: list[JSON]) -> list[Any]:
    """An argument that is an array stands for its items."""
    return [
        item
        for argument in arguments
        for item in (argument if isinstance(argument, list) else [argument])
    ]


def _length(value: JSON, _: list[JSON], __: Budget) -> JSON:
    return len(value) if isinstance(value, (list, dict)) else None


def _keys(value: JSON, _: list[JSON], budget: Budget) -> JSON:
    if not isinstance(value, dict):
        return None
    budget.spend(len(value))
    return list(value)


def _computed(compute: Callable[[Sequence[float]], float]) -> Function:
    def call(value: JSON, more: list[JSON], budget: Budget) -> JSON:
        result = compute(_numbers(value, more, budget))
        if not math.isfinite(result):
            raise NoValue
        return result

    return call


def _average(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _deviation(numbers: Sequence[float]) -> float:
    """Of the whole population, as Jayway computes it."""
    count = len(numbers)
    squares = sum(number * number for number in numbers)
    total = sum(numbers)
    # Rounding may leave a little less than nothing.
    return math.sqrt(max(squares / count - total * total / count / count, 0.0))


def _element(value: JSON, index: JSON) -> JSON:
    if not isinstance(value, list) or not is_integer(index):
        raise NoValue
    try:
        return value[int(index)]
    except IndexError as error:
        raise NoValue from error


def _append(value: JSON, more: list[JSON], budget: Budget) -> JSON:
    if not isinstance(value, list):
        return value
    budget.spend(len(value) + len(more))
    return [*value, *more]


def _concat(value: JSON, more: list[JSON], budget: Budget) -> JSON:
    """The texts of the array, and what the arguments are, scalars as Java writes them."""
    texts = [item for item in _items(value) if isinstance(item, str)]
    texts += [_text(item) for item in _flat(more)]
    budget.spend(len(texts))
    budget.grow(sum(map(len, texts)))
    return "".join(texts)


def _text(argument: JSON) -> str:
    if isinstance(argument, str):
        return argument
    if isinstance(argument, bool):
        return str(argument).lower()
    return joined_text(argument) if is_number(argument) else ""


FUNCTIONS: dict[str, Function] = {
    "length": _length,
    "size": _length,
    "keys": _keys,
    "min": _computed(min),
    "max": _computed(max),
    "sum": _computed(sum),
    "avg": _computed(_average),
    "stddev": _computed(_deviation),
    "first": lambda value, _, __: _element(value, 0),
    "last": lambda value, _, __: _element(value, -1),
    "index": lambda value, more, _: _element(value, more[0] if more else None),
    "append": _append,
    "concat": _concat,
}
"""By name."""
