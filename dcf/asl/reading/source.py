"""JSON text with places: reading it strictly, and finding where a JSON pointer stands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable

from dcf.asl.payload import JSON, MAX_DEPTH, depth_exceeds
from dcf.asl.reading.json_places import JsonPlaces
from dcf.problem import Problem

_YAML = re.compile(r"(?:\s|#[^\n]*\n)*(?:---|-\s|[A-Za-z_]\w*\s*:(?:\s|$))")
"""How text begins that is YAML: a marker, a list, or a key without quotes."""

_HALF = re.compile(
    r"[\ud800-\udfff]"
    r"|\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]"
)
"""What half of a surrogate pair looks like in JSON text; `\\\\ud800`, which is none, does too."""

_BEGINNING = 4096
_TOO_DEEP = "ASL_TOO_DEEP"
_SAFE_DIGITS = 300
"""An integer with no more digits is a finite double."""

MAX_DEFINITION = 1_048_576
"""Longest definition in characters that AWS takes; DCF itself runs longer ones."""


def too_large(length: int) -> Problem:
    """The problem of a definition whose text has ``length`` characters, more than AWS takes."""
    message = f"the definition has {length} characters; AWS takes {MAX_DEFINITION}"
    return Problem("ASL_TOO_LARGE", message, hint="move a part to a state machine of its own")


def read_json(text: str, file: str | None = None) -> tuple[JSON, list[Problem]]:
    """The value of ``text`` and every problem in it; the value is None when it is malformed.

    Stricter than ``json.loads``: a key twice in one object, NaN, Infinity, numbers beyond double
    precision and half of a surrogate pair are errors. Such a number is 1 in the value, such a half
    U+FFFD, and of equal keys the last counts, so that what else is wrong can be told too: see
    ``with_others``.
    """
    reading = _Reading()
    try:
        value = reading.load(text)
    except json.JSONDecodeError as error:
        hint = "check the comma, quote or bracket just before this place"
        if _YAML.match(text, 0, _BEGINNING):
            hint = "JSON is expected, and this looks like YAML, which is not read here: convert it"
        problem = Problem("ASL_JSON_SYNTAX", f"this is not JSON: {error.msg}", hint=hint)
        return None, [problem.at(file=file, line=error.lineno, column=error.colno)]
    except RecursionError:
        message = f"the JSON nests deeper than {MAX_DEPTH}"
        return None, [
            Problem(_TOO_DEEP, message, hint="nest less: at most 100 levels").at(file=file)
        ]
    may_have_half = _HALF.search(text) is not None
    too_deep = depth_exceeds(value)
    if not reading.is_doubtful and not may_have_half and not too_deep:
        return value, []
    places = JsonPlaces(text)
    if may_have_half and not too_deep:
        value = _whole(value)
    return value, [places.at(problem, offset, file) for offset, problem in places.problems]


def _whole(value: JSON) -> JSON:
    """``value`` with U+FFFD for each half of a surrogate pair."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {str(_whole(name)): _whole(item) for name, item in value.items()}
    return value


def with_others(problems: Iterable[Problem], others: Iterable[Problem]) -> list[Problem]:
    """``problems`` of ``read_json``, and ``others`` in the value that it gave; too deep once."""
    first = list(problems)
    too_deep = any(problem.code == _TOO_DEEP for problem in first)
    return first + [one for one in others if not (too_deep and one.code == _TOO_DEEP)]


class _Reading:
    """``is_doubtful`` tells after ``load`` whether strict JSON has something against the text."""

    def __init__(self) -> None:
        self.is_doubtful = False

    def load(self, text: str) -> JSON:
        return json.loads(
            text,
            object_pairs_hook=self._object,
            parse_constant=self._doubt,
            parse_float=self._float,
            parse_int=self._integer,
        )

    def _object(self, pairs: list[tuple[str, JSON]]) -> JSON:
        value = dict(pairs)
        self.is_doubtful |= len(value) < len(pairs)
        return value

    def _float(self, token: str) -> JSON:
        number = float(token)
        return number if math.isfinite(number) else self._doubt(token)

    def _integer(self, token: str) -> JSON:
        if len(token) > _SAFE_DIGITS and not math.isfinite(float(token)):
            return self._doubt(token)
        return int(token)

    def _doubt(self, _token: str) -> JSON:
        self.is_doubtful = True
        return 1


def locate(text: str, path: str) -> tuple[int, int] | None:
    """Line and column, from 1, where the JSON pointer ``path`` stands in ``text``.

    A member of an object stands where its key does. None when there is no such place or
    ``text`` is not JSON.
    """
    places = _places(text, [path])
    offset = places.offsets.get(path) if places is not None else None
    return None if places is None or offset is None else places.line_column(offset)


def place(problems: Iterable[Problem], text: str, file: str | None = None) -> list[Problem]:
    """``problems`` with file, line and column added.

    A problem about something missing gets the place of the nearest thing that is there.
    """
    found = list(problems)
    places = _places(text, {problem.path for problem in found}) if found else None
    if places is None:
        return [problem.at(file=file) for problem in found]
    return [places.at(problem, places.nearest(problem.path), file) for problem in found]


def _places(text: str, wanted: Iterable[str]) -> JsonPlaces | None:
    try:
        _Reading().load(text)
        return JsonPlaces(text, wanted)
    except (ValueError, RecursionError):
        return None
