"""Conditions as words that read back as the same condition."""

from __future__ import annotations

import json

from dcf.sop.condition import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Match,
    Membership,
    Name,
    Not,
    Presence,
)
from dcf.sop.language.phrase import quoted

_SIGNS = {
    "==": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is over",
    ">=": "is at least",
}


def print_condition(condition: Condition) -> str:
    """In the words of ``read_condition``."""
    match condition:
        case Comparison(left, operator, right):
            return f"{_name(left)} {_SIGNS[operator]} {_operand(right)}"
        case Presence(name):
            return f"{_name(name)} is present"
        case Match(name, pattern):
            return f"{_name(name)} matches {quoted(pattern)}"
        case Membership(name, values):
            return f"{_name(name)} is in [{', '.join(map(_operand, values))}]"
        case Not(Presence(name)):
            return f"{_name(name)} is missing"
        case Not(Membership(name, values)):
            return f"{_name(name)} is not in [{', '.join(map(_operand, values))}]"
        case Not(Match(name, pattern)):
            return f"{_name(name)} does not match {quoted(pattern)}"
        case Not(inner):
            return f"not {_inside(inner, (AllOf, AnyOf))}"
        case AllOf(conditions):
            return " and ".join(_inside(each, (AllOf, AnyOf)) for each in conditions)
        case AnyOf(conditions):
            return " or ".join(_inside(each, (AnyOf,)) for each in conditions)


def _inside(condition: Condition, in_brackets: tuple[type, ...]) -> str:
    text = print_condition(condition)
    return f"({text})" if isinstance(condition, in_brackets) else text


def _name(name: Name) -> str:
    return f"`{name.path}`"


def _operand(value: Name | Constant) -> str:
    match value:
        case Name():
            return _name(value)
        case Constant(str() as text):
            return quoted(text)
        case Constant(other):
            return json.dumps(other)
