"""The selectors of a JSONPath that may select several values, and what each selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonpath.functions import FUNCTIONS, NoValue
from dcf.asl.payload import JSON

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
    """``[1:3]``, ``[-2:]``. Between two bounds the indexes are counted through: ``[-2:1]`` has the
    last two items and the first one, ``[0:-1]`` has none (Jayway's rule)."""

    start: int | None
    stop: int | None
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        if not isinstance(value, list):
            return
        if self.start is None or self.stop is None:
            yield from value[self.start : self.stop]
            return
        first, last = max(self.start, -len(value)), min(self.stop, len(value))
        yield from (value[index] for index in range(first, last))


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
            yield from self._at(node, root, budget)
            if isinstance(node, dict):
                waiting.extend(reversed(node.values()))
            elif isinstance(node, list):
                waiting.extend(reversed(node))

    def _at(self, node: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        """A filter tests each object and array itself; of several names at the end of the path
        all must be there."""
        if isinstance(self.inner, Filter):
            if isinstance(node, (dict, list)) and self.inner.test(node, root, budget):
                yield node
        elif not isinstance(self.inner, Names) or has_all(node, self.inner.names):
            yield from self.inner.select(node, root, budget)


Argument: TypeAlias = Callable[[JSON, Budget], JSON]
"""An argument of a function: (the root of the data, what it may use)."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``.length()``, ``.sum(1, $.more)``: computed from what the path selected so far."""

    name: str
    arguments: tuple[Argument, ...] = ()
    token: None = None

    def select(self, value: JSON, root: JSON, budget: Budget) -> Iterator[JSON]:
        yield FUNCTIONS[self.name](
            value, [self._value(read, root, budget) for read in self.arguments], budget
        )

    def _value(self, read: Argument, root: JSON, budget: Budget) -> JSON:
        """An argument reads nothing of what the path selected: one look in an evaluation."""
        if read not in budget.kept:
            try:
                budget.kept[read] = read(root, budget)
            except LookupError as missing:
                raise NoValue from missing
        return budget.kept[read]


Selector: TypeAlias = (
    Names | EachName | Indexes | Slice | Wildcard | Filter | Descendants | Aggregate
)


def select(selectors: tuple[Selector, ...], value: JSON, root: JSON, budget: Budget) -> JSON:
    """What ``selectors`` select from ``value``: an array, or one value while they name one place.

    A function computes from that one value, from all that ``..`` found, or else from each value of
    the array. Raises LookupError for one place that is not there, NoValue where a function has
    nothing to compute from.
    """
    found = [value]
    single = True
    scanned = False
    for selector in selectors:
        if isinstance(selector, Aggregate) and scanned:
            found, single = list(selector.select(found, root, budget)), True
            continue
        found = _chosen(selector, found, root, budget)
        single = single and names_one(selector)
        scanned = not single and (scanned or isinstance(selector, Descendants))
        if single and not found:
            raise LookupError(selector)
    return found[0] if single else found


def names_one(selector: Selector) -> bool:
    """Whether ``selector`` gives at most one value for each that it is applied to."""
    if isinstance(selector, Indexes):
        return len(selector.indexes) == 1
    return isinstance(selector, (Names, Aggregate))


def has_all(value: JSON, names: tuple[str, ...]) -> bool:
    """Whether ``value`` is an object with all of ``names``."""
    return isinstance(value, dict) and all(name in value for name in names)


def _chosen(selector: Selector, values: list[JSON], root: JSON, budget: Budget) -> list[JSON]:
    chosen: list[JSON] = []
    for value in values:
        before = len(chosen)
        chosen.extend(selector.select(value, root, budget))
        budget.spend(len(chosen) - before)
    return chosen
