"""Where each value of a JSON text stands, and what in it strict JSON does not allow."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable

from dcf.asl.payload import MAX_DEPTH
from dcf.asl.reading.findings import child
from dcf.problem import Problem

_SPACE = re.compile(r"[ \t\n\r]*")
# A loop over single characters would cost a hundred bytes for each of them.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SCALAR = re.compile(r"[^\s,\]}]+")
_HALF = re.compile("[\ud800-\udfff]")
_WORDS = ("true", "false", "null")
_INTEGER = re.compile(r"-?\d+")
_EXCERPT = 40
_DECODER = json.JSONDecoder(parse_int=float)

MAX_DIGITS = 4300
"""Most digits of an integer: Python reads no more at once, and no double holds as many."""


class JsonPlaces:
    """Offsets by JSON pointer for a ``text`` that ``json.loads`` accepts.

    ``wanted`` are the pointers to find, where they exist, and their ancestors: what is beside them
    is passed over, so that a large text costs little. None looks through all of the text for its
    ``problems`` instead, which pairs an offset with a duplicate key, a number that is not finite,
    half of a surrogate pair, or nesting too deep to follow.
    """

    def __init__(self, text: str, wanted: Iterable[str] | None = None) -> None:
        self.offsets: dict[str, int] = {}
        self.problems: list[tuple[int, Problem]] = []
        self._text = text
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._kept = None if wanted is None else _with_ancestors(wanted)
        start = self._skip(0)
        self.offsets[""] = start
        self._value(start, "", 0)

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of ``offset``, both from 1."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def nearest(self, pointer: str) -> int:
        """The offset of ``pointer`` or of its nearest ancestor that exists."""
        while pointer and pointer not in self.offsets:
            pointer = pointer.rpartition("/")[0]
        return self.offsets.get(pointer, 0)

    def at(self, problem: Problem, offset: int, file: str | None) -> Problem:
        """``problem`` placed at ``offset``."""
        line, column = self.line_column(offset)
        return problem.at(file=file, line=line, column=column)

    def _skip(self, position: int) -> int:
        found = _SPACE.match(self._text, position)
        return found.end() if found is not None else position

    def _string_end(self, position: int) -> int:
        found = _STRING.match(self._text, position)
        return found.end() if found is not None else len(self._text)

    def _value(self, position: int, pointer: str, depth: int) -> int:
        """Read the value at ``position``; the position after it."""
        if self._kept is not None and pointer not in self._kept:
            return _DECODER.raw_decode(self._text, position)[1]
        character = self._text[position]
        if character in "{[" and depth == MAX_DEPTH:
            message = f"the JSON nests deeper than {MAX_DEPTH}"
            self.problems.append(
                (
                    position,
                    Problem("ASL_TOO_DEEP", message, pointer, hint="nest less: at most 100 levels"),
                )
            )
            return len(self._text)
        if character == "{":
            return self._object(position, pointer, depth)
        if character == "[":
            return self._array(position, pointer, depth)
        if character == '"':
            return self._string(position, pointer)
        return self._scalar(position, pointer)

    def _object(self, position: int, pointer: str, depth: int) -> int:
        position = self._skip(position + 1)
        seen: set[str] = set()
        while position < len(self._text) and self._text[position] != "}":
            after = self._string_end(position)
            key = self._text[position + 1 : after - 1]
            if "\\" in key:
                key = json.loads(self._text[position:after])
            place = child(pointer, key)
            self._check_whole(key, position, place)
            if key in seen:
                message = f"the key `{key}` stands twice in this object"
                hint = "rename or remove one: only the last would count"
                problem = Problem("ASL_JSON_DUPLICATE_KEY", message, place, hint)
                self.problems.append((position, problem))
            seen.add(key)
            self._keep(place, position)
            colon = self._skip(after)
            position = self._value(self._skip(colon + 1), place, depth + 1)
            position = self._after_comma(position)
        return position + 1

    def _array(self, position: int, pointer: str, depth: int) -> int:
        position = self._skip(position + 1)
        index = 0
        while position < len(self._text) and self._text[position] != "]":
            place = child(pointer, index)
            self._keep(place, position)
            position = self._after_comma(self._value(position, place, depth + 1))
            index += 1
        return position + 1

    def _keep(self, pointer: str, position: int) -> None:
        if self._kept is not None and pointer in self._kept:
            self.offsets[pointer] = position

    def _after_comma(self, position: int) -> int:
        position = self._skip(position)
        if position < len(self._text) and self._text[position] == ",":
            return self._skip(position + 1)
        return position

    def _string(self, position: int, pointer: str) -> int:
        after = self._string_end(position)
        text = self._text[position + 1 : after - 1]
        if "\\" in text:
            text = json.loads(self._text[position:after])
        self._check_whole(text, position, pointer)
        return after

    def _check_whole(self, text: str, position: int, pointer: str) -> None:
        found = _HALF.search(text)
        if found is not None:
            message = f"a lone surrogate (\\u{ord(found.group()):04x}) is no text"
            hint = "write the whole pair, or leave it out"
            problem = Problem("ASL_JSON_NOT_UNICODE", message, _HALF.sub("\ufffd", pointer), hint)
            self.problems.append((position, problem))

    def _scalar(self, position: int, pointer: str) -> int:
        found = _SCALAR.match(self._text, position)
        if found is None:
            return len(self._text)
        token = found.group()
        problem = _number_problem(token, pointer)
        if problem is not None:
            self.problems.append((position, problem))
        return found.end()


def _with_ancestors(pointers: Iterable[str]) -> set[str]:
    kept = {""}
    for pointer in pointers:
        while pointer not in kept:
            kept.add(pointer)
            pointer = pointer.rpartition("/")[0]
    return kept


def _number_problem(token: str, pointer: str) -> Problem | None:
    """What is wrong with a number; None for other tokens, too."""
    if _INTEGER.fullmatch(token) and len(token.lstrip("-")) > MAX_DIGITS:
        message = f"the number has {len(token.lstrip('-'))} digits; {MAX_DIGITS} is the most"
        hint = "write a shorter number, or a text in quotes"
        return Problem("ASL_JSON_NUMBER", message, pointer, hint)
    if token in _WORDS or math.isfinite(float(token)):
        return None
    shown = token if len(token) <= _EXCERPT else f"{token[:_EXCERPT]}…"
    message = f"`{shown}` is not a finite number"
    return Problem("ASL_JSON_NOT_FINITE", message, pointer, "write a finite number")
