"""What comparisons of one name with constants leave of its values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dcf.sop.condition import Comparison, Condition, Constant, Membership, Name, Scalar


@dataclass(frozen=True, slots=True)
class Range:
    """Either some values (``among``), or the numbers between two bounds, whose ends are left out
    where ``open_low`` or ``open_high`` says so."""

    among: frozenset[Constant] | None = None
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = True
    open_high: bool = True

    @property
    def is_empty(self) -> bool:
        if self.among is not None:
            return not self.among
        return self.low > self.high or (self.low == self.high and (self.open_low or self.open_high))

    def holds(self, value: Scalar) -> bool:
        """Whether a value is in a range of numbers."""
        if isinstance(value, str | bool):
            return False
        above = value > self.low or (value == self.low and not self.open_low)
        below = value < self.high or (value == self.high and not self.open_high)
        return above and below

    def meet(self, other: Range) -> Range:
        """The values of both."""
        if self.among is not None and other.among is not None:
            return Range(frozenset(a for a in self.among if any(_same(a, b) for b in other.among)))
        if self.among is not None:
            return Range(frozenset(one for one in self.among if other.holds(one.value)))
        if other.among is not None:
            return other.meet(self)
        low, open_low = max((self.low, self.open_low), (other.low, other.open_low))
        high, closed = min((self.high, not self.open_high), (other.high, not other.open_high))
        return Range(None, low, high, open_low, not closed)

    def contains(self, other: Range) -> bool:
        """Whether every value of ``other`` is one of this."""
        if other.among is not None and self.among is None:
            return all(self.holds(one.value) for one in other.among)
        if other.among is not None and self.among is not None:
            return all(any(_same(one, mine) for mine in self.among) for one in other.among)
        if self.among is not None:
            return False
        return (self.low, self.open_low) <= (other.low, other.open_low) and (
            other.high,
            not other.open_high,
        ) <= (self.high, not self.open_high)


def range_of(condition: Condition) -> tuple[Name, Range] | None:
    """The name that ``condition`` bounds, and the values it leaves; None for other conditions."""
    match condition:
        case Membership(name, values):
            return name, Range(frozenset(values))
        case Comparison(name, "==", Constant() as value):
            return name, Range(frozenset({value}))
        case Comparison(name, operator, Constant(bound)) if not isinstance(bound, str | bool):
            match operator:
                case ">" | ">=":
                    return name, Range(low=bound, open_low=operator == ">")
                case "<" | "<=":
                    return name, Range(high=bound, open_high=operator == "<")
    return None


def _same(first: Constant, second: Constant) -> bool:
    """Equal as JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(first.value, bool) != isinstance(second.value, bool):
        return False
    return first.value == second.value
