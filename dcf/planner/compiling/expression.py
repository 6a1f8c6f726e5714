"""JSONata texts: names, constants and conditions of a procedure as the language writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.sop import (
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

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset({"and", "or", "in", "true", "false", "null"})
_QUOTED = re.compile(r"`([A-Za-z][\w.]*)`")


@dataclass(frozen=True, slots=True)
class Names:
    """What names stand for at one place. ``variables`` holds those that have another variable than
    one of their own name; ``perhaps`` are those that may be null or missing."""

    variables: Mapping[str, str] = field(default_factory=dict)
    perhaps: frozenset[str] = frozenset()

    def variable(self, root: str) -> str:
        """The variable of the value ``root``, without the ``$``."""
        return self.variables.get(root, root)

    def is_sure(self, path: str) -> bool:
        """Whether ``path`` has a value in any case; of members that is not known."""
        return "." not in path and path not in self.perhaps


def wrapped(expression: str) -> str:
    """``expression`` as a field of a state has it."""
    return "{% " + expression + " %}"


def value_of(path: str, names: Names) -> str:
    """The value with the dotted name ``path``: ``$order.total``."""
    root, *members = path.split(".")
    return "".join([f"${names.variable(root)}", *(f".{member_name(member)}" for member in members)])


def member_name(member: str) -> str:
    """A member of an object, quoted where the language would read something else in it."""
    return member if _PLAIN.fullmatch(member) and member not in _WORDS else f"`{member}`"


def result_of(path: tuple[str, ...]) -> str:
    """The member at ``path`` of what a Task answered."""
    return "".join(["$states.result", *(f".{member_name(member)}" for member in path)])


def or_null(value: str) -> str:
    """``value``, or null where there is none: an expression that gives nothing is an error."""
    return f"$exists({value}) ? {value} : null"


def literal(value: Any) -> str:
    """A JSON value. Short texts stand in single quotes, which need no escape in a document."""
    if isinstance(value, str) and value.isprintable() and not set(value) & {"'", "\\"}:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def condition(wanted: Condition, names: Names) -> str:
    """``wanted`` as an expression that is true or false whatever the values are, but for an order
    between values of different types, which has no answer."""
    match wanted:
        case Comparison():
            return _comparison(wanted, names)
        case Presence(name):
            # A comparison with what is not there is false, whichever way it asks.
            return f"{value_of(name.path, names)} != null"
        case Match(name, pattern):
            return _match(value_of(name.path, names), pattern)
        case Membership(name, values):
            listed = ", ".join(literal(one.value) for one in values)
            return f"{value_of(name.path, names)} in [{listed}]"
        case Not(inner):
            return f"$not({condition(inner, names)})"
        case AllOf(parts):
            return _joined(parts, "and", names)
        case AnyOf(parts):
            return _joined(parts, "or", names)


def _match(value: str, pattern: str) -> str:
    """The language has an error for an expression that matches nothing at all, so that what may be
    empty is asked without one."""
    if not pattern:
        return f"{value} = ''"
    if not pattern.strip("*"):
        return f"$type({value}) = 'string'"
    return f"($type({value}) = 'string' and $contains({value}, /{regular(pattern)}/))"


def _joined(parts: tuple[Condition, ...], word: str, names: Names) -> str:
    return "(" + f" {word} ".join(condition(part, names) for part in parts) + ")"


def _comparison(wanted: Comparison, names: Names) -> str:
    left = value_of(wanted.left.path, names)
    right = _operand(wanted.right, names)
    if wanted.operator == "==":
        return f"{left} = {right}"
    if wanted.operator == "!=":
        is_sure = names.is_sure(wanted.left.path)
        return f"{left} != {right}" if is_sure else f"$not({left} = {right})"
    operands = dict.fromkeys((wanted.left, wanted.right))
    compared = [one for one in operands if isinstance(one, Name)]
    unsure = [value_of(one.path, names) for one in compared if not names.is_sure(one.path)]
    order = f"{left} {wanted.operator} {right}"
    return f"({' and '.join([*(f'{one} != null' for one in unsure), order])})" if unsure else order


def _operand(operand: Name | Constant, names: Names) -> str:
    if isinstance(operand, Name):
        return value_of(operand.path, names)
    return literal(operand.value)


def regular(pattern: str) -> str:
    """A pattern with stars as a regular expression that spans the whole text."""
    parts = []
    letters = iter(pattern)
    for letter in letters:
        if letter == "\\":
            parts.append(_escaped(next(letters, "\\")))
        else:
            parts.append(r"[\s\S]*" if letter == "*" else _escaped(letter))
    return f"^{''.join(parts)}$"


def _escaped(letter: str) -> str:
    return letter if letter.isalnum() or letter in "_ -,;:=@#%&~!<>'\"" else f"\\{letter}"


def text_with_names(text: str, names: Names, known: Callable[[str], bool]) -> str | None:
    """``text`` with the names in backticks replaced by their values, as an expression; None where
    it has none that is ``known``."""
    parts: list[str] = []
    at = 0
    for found in _QUOTED.finditer(text):
        if not known(found[1].partition(".")[0]):
            continue
        if found.start() > at:
            parts.append(literal(text[at : found.start()]))
        parts.append(f"$string({value_of(found[1], names)})")
        at = found.end()
    if not parts:
        return None
    if at < len(text):
        parts.append(literal(text[at:]))
    return " & ".join(parts)


def names_in_text(text: str) -> list[str]:
    """The dotted names that stand in backticks, each once."""
    return list(dict.fromkeys(_QUOTED.findall(text)))
