"""The text of an intrinsic call, ``States.Format('{}', $.name)``, parsed into a tree."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.errors import ExpressionError
from dcf.asl.payload import JSON

BAD_INTRINSIC = "ASL_BAD_INTRINSIC"
MAX_NESTING = 10
"""How deep calls may stand inside calls (a Step Functions limit)."""

MAX_DIGITS = 40
"""Longest number in characters."""

_NAME = re.compile(r"States\.[A-Za-z0-9]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WORDS: dict[str, JSON] = {"true": True, "false": False, "null": None}
_ESCAPABLE = "'\\{}"
_ESCAPES = ", ".join(f"`\\{character}`" for character in _ESCAPABLE)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant argument; ``raw`` keeps a string's escapes, for ``States.Format``."""

    value: JSON
    raw: str = ""


@dataclass(frozen=True, slots=True)
class PathArgument:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """``name`` without its ``States.`` prefix, applied to ``arguments``."""

    name: str
    arguments: tuple[Argument, ...]


Argument: TypeAlias = Literal | PathArgument | Call


def parse_call(text: str) -> Call:
    """The call that ``text`` is, whole; raises ExpressionError."""
    reader = _Reader(text)
    call = reader.call(depth=1)
    reader.skip_spaces()
    if reader.position != len(text):
        raise reader.bad(f"unexpected `{text[reader.position :][:20]}` after the call")
    return call


class _Reader:
    __slots__ = ("position", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def call(self, depth: int) -> Call:
        if depth > MAX_NESTING:
            raise self.bad(f"calls nest deeper than {MAX_NESTING}")
        self.skip_spaces()
        found = _NAME.match(self.text, self.position)
        if found is None:
            raise self.bad("a call starts with `States.` and a function name")
        self.position = found.end()
        self.expect("(")
        arguments: list[Argument] = []
        if self.peek() == ")":
            self.position += 1
            return Call(found.group()[len("States.") :], ())
        while True:
            arguments.append(self.argument(depth))
            if self.peek() == ",":
                self.position += 1
                continue
            self.expect(")")
            return Call(found.group()[len("States.") :], tuple(arguments))

    def argument(self, depth: int) -> Argument:
        character = self.peek()
        if character == "'":
            return self.string()
        if character == "$":
            return self.path()
        if self.text.startswith("States.", self.position):
            return self.call(depth + 1)
        return self.word()

    def string(self) -> Literal:
        start = self.position + 1
        position = start
        pieces: list[str] = []
        while position < len(self.text):
            character = self.text[position]
            if character == "'":
                self.position = position + 1
                return Literal("".join(pieces), self.text[start:position])
            if character == "\\":
                position += 1
                character = self.text[position : position + 1]
                if not character or character not in _ESCAPABLE:
                    raise self.bad(f"`\\{character}` is no escape: only {_ESCAPES} are")
            pieces.append(character)
            position += 1
        raise self.bad("a string is never closed with `'`")

    def path(self) -> PathArgument:
        start = self.position
        depth = 0
        quote = ""
        while self.position < len(self.text):
            character = self.text[self.position]
            if quote:
                if character == "\\":
                    self.position += 1
                elif character == quote:
                    quote = ""
            elif depth and character in "'\"":
                quote = character
            elif character in "[(":
                depth += 1
            elif depth and character in "])":
                depth -= 1
            elif not depth and character in ",)":
                break
            self.position += 1
        return PathArgument(self.text[start : self.position].strip())

    def word(self) -> Literal:
        for word, value in _WORDS.items():
            if self.text.startswith(word, self.position):
                self.position += len(word)
                return Literal(value)
        found = _NUMBER.match(self.text, self.position)
        if found is None:
            raise self.bad("an argument is a 'string', number, true, false, null, path or call")
        self.position = found.end()
        return Literal(self.number(found))

    def number(self, found: re.Match[str]) -> int | float:
        if len(found.group()) > MAX_DIGITS:
            raise self.bad(f"a number has at most {MAX_DIGITS} characters")
        if found.group(1, 2) == (None, None):
            return int(found.group())
        value = float(found.group())
        if not math.isfinite(value):
            raise self.bad(f"`{found.group()}` is beyond double precision")
        return value

    def expect(self, character: str) -> None:
        if self.peek() != character:
            raise self.bad(f"`{character}` is missing at position {self.position + 1}")
        self.position += 1

    def peek(self) -> str:
        self.skip_spaces()
        return self.text[self.position : self.position + 1]

    def skip_spaces(self) -> None:
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1

    def bad(self, why: str) -> ExpressionError:
        shown = self.text if len(self.text) <= 80 else f"{self.text[:79]}…"
        return ExpressionError(
            BAD_INTRINSIC,
            f"`{shown}` is not an intrinsic call: {why}",
            "write for example `States.Format('order {}', $.id)`",
        )
