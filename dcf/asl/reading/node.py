"""A JSON object of the definition, read field by field with its findings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dcf.asl.payload import JSON, excerpt, is_integer, is_number, kind
from dcf.asl.reading.findings import Findings, child

WRONG_TYPE = "ASL_WRONG_TYPE"
OUT_OF_RANGE = "ASL_OUT_OF_RANGE"
MISSING = "ASL_MISSING_FIELD"

_AWS_TYPES = {
    "a string": "[STRING]",
    "an integer": "Integer",
    "a number": "Number",
    "true or false": "[BOOLEAN]",
    "an array": "[ARRAY]",
}
_WRITE = {
    "a string": "write it in quotes",
    "an integer": "write a number without fraction and quotes",
    "a number": "write a number without quotes",
    "true or false": "write `true` or `false` without quotes",
    "an array": "write it in `[` and `]`",
    "an object": "write it in `{` and `}`",
}


class Node:
    """``value`` at ``pointer``. Readers return None when a field is absent or wrong.

    A wrong field is reported once, where it stands. ``inside`` is what AWS writes before the name
    of a field when it tells where in the state an expression is: ``Choices[1]/``.
    """

    __slots__ = ("findings", "inside", "pointer", "value")

    def __init__(
        self, value: dict[str, Any], pointer: str, findings: Findings, inside: str = ""
    ) -> None:
        self.value = value
        self.pointer = pointer
        self.findings = findings
        self.inside = inside

    def __contains__(self, field: str) -> bool:
        return field in self.value

    def place(self, field: str) -> str:
        return child(self.pointer, field)

    def error(
        self,
        code: str,
        field: str,
        message: str,
        hint: str = "",
        aws: str = "",
        fields: tuple[str, ...] = (),
    ) -> None:
        """Report a fault of ``field``, or of the object itself when that is empty. ``fields`` are
        those that it is about: see Finding."""
        place = self.place(field) if field else self.pointer
        self.findings.error(code, place, message, hint, aws, fields)

    def missing(self, field: str, message: str, hint: str) -> None:
        """Report that the object lacks ``field``."""
        self.error(MISSING, "", message, hint, fields=(field,))

    def warning(self, code: str, field: str, message: str, hint: str = "", aws: str = "") -> None:
        """Like ``error``, for what AWS accepts and an author hardly means."""
        place = self.place(field) if field else self.pointer
        self.findings.warning(code, place, message, hint, aws)

    def text(self, field: str, *, filled: bool = False) -> str | None:
        value = self.value.get(field)
        if field not in self.value:
            return None
        if not isinstance(value, str):
            self.wrong_type(field, "a string")
            return None
        if filled and not value:
            message = f"`{field}` is empty"
            self.error(OUT_OF_RANGE, field, message, "give it a value", "Value cannot be empty")
            return None
        return value

    def flag(self, field: str) -> bool | None:
        if field not in self.value:
            return None
        value = self.value[field]
        if not isinstance(value, bool):
            self.wrong_type(field, "true or false")
            return None
        return value

    def integer(self, field: str, low: int, high: int) -> int | None:
        if field not in self.value:
            return None
        value = self.value[field]
        if not is_integer(value):
            self.wrong_type(field, "an integer")
            return None
        return int(value) if self._within(field, value, low, high) else None

    def number(self, field: str, low: float, high: float) -> float | None:
        if field not in self.value:
            return None
        value = self.value[field]
        if not is_number(value):
            self.wrong_type(field, "a number")
            return None
        return float(value) if self._within(field, value, low, high) else None

    def array(self, field: str) -> list[JSON] | None:
        value = self.value.get(field)
        if field not in self.value:
            return None
        if not isinstance(value, list):
            self.wrong_type(field, "an array")
            return None
        return value

    def node(self, field: str) -> Node | None:
        value = self.value.get(field)
        if field not in self.value:
            return None
        if not isinstance(value, dict):
            self.wrong_type(field, "an object")
            return None
        return Node(value, self.place(field), self.findings, f"{self.inside}{field}/")

    def nodes(self, field: str) -> list[Node]:
        """The objects in an array; anything else in it is reported."""
        found: list[Node] = []
        for index, value in enumerate(self.array(field) or ()):
            place = child(self.place(field), index)
            if isinstance(value, dict):
                inside = f"{self.inside}{field}[{index}]/"
                found.append(Node(value, place, self.findings, inside))
            else:
                message = f"`{field}` holds objects, found {kind(value)}"
                aws = "Expected value of type [OBJECT]"
                self.findings.error(WRONG_TYPE, place, message, _WRITE["an object"], aws)
        return found

    def choice(self, field: str, allowed: Collection[str]) -> str | None:
        text = self.text(field)
        if text is None or text in allowed:
            return text
        names = ", ".join(f"`{name}`" for name in allowed)
        aws = f"Value should be one of the following: [{', '.join(allowed)}]"
        self.error(OUT_OF_RANGE, field, f"`{field}` is `{text}`", f"use one of {names}", aws)
        return None

    def wrong_type(self, field: str, expected: str) -> None:
        message = f"`{field}` must be {expected}, found {excerpt(self.value[field])}"
        aws = f"Expected value of type {_AWS_TYPES.get(expected, '[OBJECT]')}"
        self.error(WRONG_TYPE, field, message, _WRITE.get(expected, ""), aws)

    def _within(self, field: str, value: float, low: float, high: float) -> bool:
        if low <= value <= high:
            return True
        message = f"`{field}` is {value}, outside {low} to {high}"
        aws = f"Minimum value is {low}" if value < low else f"Maximum value is {high}"
        self.error(OUT_OF_RANGE, field, message, f"write a number from {low} to {high}", aws)
        return False
