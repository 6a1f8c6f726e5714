"""The comparison operators of a Choice rule: value against value, false for other types."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from dcf.asl.errors import RUNTIME, EvaluationError
from dcf.asl.payload import JSON, excerpt, is_number, text_order
from dcf.asl.timestamp import parse_instant

Compare: TypeAlias = Callable[[JSON, JSON], bool]


@dataclass(frozen=True, slots=True)
class Operator:
    """``compare(variable, operand)``; ``operand_kind`` is what the operand must be.

    ``path`` says whether a variant of the name with ``Path`` takes its operand from a path.
    """

    compare: Compare
    operand_kind: str
    path: bool = True


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "Equals": operator.eq,
    "LessThan": operator.lt,
    "LessThanEquals": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanEquals": operator.ge,
}


def _strings(order: Callable[[Any, Any], bool]) -> Compare:
    def compare(left: JSON, right: JSON) -> bool:
        both = isinstance(left, str) and isinstance(right, str)
        return both and order(text_order(left), text_order(right))

    return compare


def _numbers(order: Callable[[Any, Any], bool]) -> Compare:
    def compare(left: JSON, right: JSON) -> bool:
        return is_number(left) and is_number(right) and order(left, right)

    return compare


def _timestamps(order: Callable[[Any, Any], bool]) -> Compare:
    def compare(left: JSON, right: JSON) -> bool:
        first, second = parse_instant(left), parse_instant(right)
        return first is not None and second is not None and order(first, second)

    return compare


def _booleans(left: JSON, right: JSON) -> bool:
    return isinstance(left, bool) and isinstance(right, bool) and left is right


def _matches(left: JSON, pattern: JSON) -> bool:
    """``*`` in ``pattern`` stands for any text; a backslash makes a star or a backslash literal.

    Before anything else it is an error (the specification's Choice state, "open escape").
    Takes the earliest place for each piece, so time grows with the text, not with the stars.
    """
    if not isinstance(left, str):
        return False
    first, *rest = _pieces(pattern)
    if not rest:
        return left == first
    last = rest.pop()
    if len(left) < len(first) + len(last) or not (left.startswith(first) and left.endswith(last)):
        return False
    position, end = len(first), len(left) - len(last)
    for piece in rest:
        position = left.find(piece, position, end)
        if position < 0:
            return False
        position += len(piece)
    return True


@lru_cache(maxsize=1024)
def _pieces(pattern: str) -> tuple[str, ...]:
    """The literal texts between the stars of ``pattern``. Raises EvaluationError (open escape)."""
    pieces = [""]
    for token in re.findall(r"\\[\\*]|.", pattern, re.DOTALL):
        if token == "*":
            pieces.append("")
        elif token == "\\":
            cause = f"The backslash in {excerpt(pattern)} escapes neither a star nor a backslash."
            raise EvaluationError(RUNTIME, cause)
        else:
            pieces[-1] += token[-1]
    return tuple(pieces)


def _is(test: Callable[[JSON], bool]) -> Compare:
    def compare(value: JSON, expected: JSON) -> bool:
        return test(value) is expected

    return compare


OPERATORS: dict[str, Operator] = {
    **{f"String{name}": Operator(_strings(order), "string") for name, order in _ORDERS.items()},
    **{f"Numeric{name}": Operator(_numbers(order), "number") for name, order in _ORDERS.items()},
    **{
        f"Timestamp{name}": Operator(_timestamps(order), "timestamp")
        for name, order in _ORDERS.items()
    },
    "BooleanEquals": Operator(_booleans, "boolean"),
    "StringMatches": Operator(_matches, "string", path=False),
    "IsNull": Operator(_is(lambda value: value is None), "boolean", path=False),
    "IsString": Operator(_is(lambda value: isinstance(value, str)), "boolean", path=False),
    "IsNumeric": Operator(_is(is_number), "boolean", path=False),
    "IsBoolean": Operator(_is(lambda value: isinstance(value, bool)), "boolean", path=False),
    "IsTimestamp": Operator(
        _is(lambda value: parse_instant(value) is not None), "boolean", path=False
    ),
}
"""Every operator by name but ``IsPresent``, which looks at the path rather than the value."""


def operand_fits(kind: str, value: JSON) -> bool:
    """Whether a constant operand has the type that its operator needs."""
    if kind == "string":
        return isinstance(value, str)
    if kind == "number":
        return is_number(value)
    if kind == "boolean":
        return isinstance(value, bool)
    return parse_instant(value) is not None
