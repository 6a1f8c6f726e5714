"""The selectors of a JSONPath that may select several values, and what each selects."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from dcf.asl.evaluation_budget import Budget
from dcf.asl.payload import JSON, is_number

Token: TypeAlias = str | int
"""A field name or an index: what selects at most one value."""

Test: TypeAlias = Callable[[JSON, JSON, Budget], bool]
"""A compiled filter: (the value, the root of the data, what it may use)."""


@dataclass(frozen=True, slots=True)
class Names:
    """``.a``, ``['a']``, or ``['a','b']`` at the end of a path: several names select one object
    with what is there."""

    names: tuple[str, ...]

    @property
    def token(self) -> Token | None:
        return self.names[0] if len(self.names) == 1 else None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        if not isinstance(value, dict):
            return
        if len(self.names) > 1:
            yield {name: value[name] for name in self.names if name in value}
        elif self.names[0] in value:
            yield value[self.names[0]]


@dataclass(frozen=True, slots=True)
class EachName:
    """``['a','b']`` before the end of a path, which goes on from each of them (Jayway's rule)."""

    names: tuple[str, ...]
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        if isinstance(value, dict):
            yield from (value[name] for name in self.names if name in value)


@dataclass(frozen=True, slots=True)
class Indexes:
    """``[0]``, ``[-1]``, ``[0,2]``."""

    indexes: tuple[int, ...]

    @property
    def token(self) -> Token | None:
        return self.indexes[0] if len(self.indexes) == 1 else None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        if isinstance(value, list):
            for index in self.indexes:
                if -len(value) <= index < len(value):
                    yield value[index]


@dataclass(frozen=True, slots=True)
class Slice:
    """``[1:3]``, ``[-2:]``."""

    part: slice
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        if isinstance(value, list):
            yield from value[self.part]


@dataclass(frozen=True, slots=True)
class Wildcard:
    """``.*``, ``[*]``: every member."""

    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, list):
            yield from value


@dataclass(frozen=True, slots=True)
class Filter:
    """``[?(@.price > 10)]``: the elements of an array, or the object itself, that pass."""

    test: Test
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        items = value if isinstance(value, list) else [value] if isinstance(value, dict) else ()
        for item in items:
            if self.test(item, root, budget):
                yield item


@dataclass(frozen=True, slots=True)
class Descendants:
    """``..x``: what ``inner`` selects in the value and in everything below it."""

    inner: Selector
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        waiting = [value]
        while waiting:
            node = waiting.pop()
            budget.tick()
            yield from self.inner.select(node, root, budget)
            if isinstance(node, dict):
                waiting.extend(reversed(node.values()))
            elif isinstance(node, list):
                waiting.extend(reversed(node))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``.length()``: one value computed from what the path selected so far."""

    name: str
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        yield FUNCTIONS[self.name](value)


Selector: TypeAlias = (
    Names | EachName | Indexes | Slice | Wildcard | Filter | Descendants | Aggregate
)


def select(selectors: tuple[Selector, ...], value: JSON, root: JSON, budget: Budget) -> JSON:
    """What ``selectors`` select from ``value``: an array, or one value after names or a function.

    Raises LookupError when there is nothing to compute from.
    """
    found = [value]
    single = True
    for selector in selectors:
        if isinstance(selector, Aggregate):
            found = list(selector.select(found[0] if single else found, root, budget))
            single = True
            continue
        found = _chosen(selector, found, root, budget)
        single = single and isinstance(selector, (Names, Indexes)) and _is_one(selector)
        if single and not found:
            raise LookupError(selector)
    return found[0] if single else found


def _is_one(selector: Names | Indexes) -> bool:
    return isinstance(selector, Names) or len(selector.indexes) == 1


def _chosen(selector: Selector, values: list[JSON], root: JSON, budget: Budget) -> list[JSON]:
    chosen: list[JSON] = []
    for value in values:
        before = len(chosen)
        chosen.extend(selector.select(value, root, budget))
        budget.spend(len(chosen) - before)
    return chosen


def _numbers(value: JSON) -> list[Any]:
    numbers = [item for item in value if is_number(item)] if isinstance(value, list) else []
    if not numbers:
        raise LookupError("no numbers")
    return numbers


def _length(value: JSON) -> JSON:
    return len(value) if isinstance(value, (list, dict, str)) else None


def _keys(value: JSON) -> JSON:
    return list(value) if isinstance(value, dict) else None


def _sum(value: JSON) -> JSON:
    return float(sum(_numbers(value)))


def _element(index: int) -> Callable[[JSON], JSON]:
    def read(value: JSON) -> JSON:
        if not isinstance(value, list):
            raise LookupError(index)
        return value[index]

    return read


FUNCTIONS: dict[str, Callable[[JSON], JSON]] = {
    "length": _length,
    "size": _length,
    "keys": _keys,
    "min": lambda value: float(min(_numbers(value))),
    "max": lambda value: float(max(_numbers(value))),
    "sum": _sum,
    "avg": lambda value: float(statistics.fmean(_numbers(value))),
    "stddev": lambda value: float(statistics.pstdev(_numbers(value))),
    "first": _element(0),
    "last": _element(-1),
}
"""The functions that may end a path."""
