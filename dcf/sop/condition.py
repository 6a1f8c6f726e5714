"""Conditions as data: what an ``If`` compares. Nothing in them is ever evaluated as code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scalar = str | int | float | bool
Operator = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Name:
    """A value by its dotted name: ``order.total`` is the member ``total`` of the value ``order``.
    The first part is an input, what a step before wrote, or the item of a loop."""

    path: str

    @property
    def root(self) -> str:
        """The part before the first dot."""
        return self.path.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is written down. ``1``, ``1.0`` and ``True`` are three different ones."""

    value: Scalar

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constant)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right``. ``<``, ``<=``, ``>`` and ``>=`` take a number, a text (timestamps
    too, which sort as texts) or a name on the right."""

    left: Name
    operator: Operator
    right: Name | Constant


@dataclass(frozen=True, slots=True)
class Presence:
    """The name has a value at all, and it is not null."""

    name: Name


@dataclass(frozen=True, slots=True)
class Match:
    """A text that fits ``pattern``; ``*`` in it stands for any characters, ``\\*`` for a star
    (as the language's ``StringMatches``)."""

    name: Name
    pattern: str


@dataclass(frozen=True, slots=True)
class Membership:
    """The value equals one of ``values``, of which there is at least one."""

    name: Name
    values: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one of two or more conditions holds."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of two or more conditions holds."""

    conditions: tuple[Condition, ...]


Condition = Comparison | Presence | Match | Membership | Not | AllOf | AnyOf


def names_in(condition: Condition) -> tuple[Name, ...]:
    """The names that ``condition`` looks at, in order of their first use."""
    return tuple(dict.fromkeys(_names(condition)))


def _names(condition: Condition) -> list[Name]:
    match condition:
        case Comparison(left, _, right):
            return [left, right] if isinstance(right, Name) else [left]
        case Presence(name) | Match(name, _) | Membership(name, _):
            return [name]
        case Not(inner):
            return _names(inner)
        case AllOf(conditions) | AnyOf(conditions):
            return [name for each in conditions for name in _names(each)]
