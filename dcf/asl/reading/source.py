"""JSON text with places: reading it strictly, and finding where a JSON pointer stands."""

from __future__ import annotations

import json
from collections.abc import Iterable

from dcf.asl.payload import JSON, MAX_DEPTH
from dcf.asl.reading.json_places import JsonPlaces
from dcf.problem import Problem

MAX_DEFINITION = 1_048_576
"""Longest definition in characters that AWS takes; DCF itself runs longer ones."""


def too_large(length: int) -> Problem:
    """The problem of a definition whose text has ``length`` characters, more than AWS takes."""
    message = f"the definition has {length} characters; AWS takes {MAX_DEFINITION}"
    return Problem("ASL_TOO_LARGE", message, hint="move a part to a state machine of its own")


def read_json(text: str, file: str | None = None) -> tuple[JSON, list[Problem]]:
    """The value of ``text`` and every problem in it; the value is None when it is malformed.

    Stricter than ``json.loads``: a key twice in one object, NaN, Infinity and numbers beyond
    double precision are errors.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        hint = "check the comma, quote or bracket just before this place"
        problem = Problem("ASL_JSON_SYNTAX", f"this is not JSON: {error.msg}", hint=hint)
        return None, [problem.at(file=file, line=error.lineno, column=error.colno)]
    except RecursionError:
        message = f"the JSON nests deeper than {MAX_DEPTH}"
        return None, [
            Problem("ASL_TOO_DEEP", message, hint="nest less: at most 100 levels").at(file=file)
        ]
    except ValueError as error:  # an integer with thousands of digits
        return None, [
            Problem(
                "ASL_JSON_NUMBER",
                str(error),
                hint="write the number as JSON does, or as a text in quotes",
            ).at(file=file)
        ]
    places = JsonPlaces(text)
    return value, [places.at(problem, offset, file) for offset, problem in places.problems]


def locate(text: str, path: str) -> tuple[int, int] | None:
    """Line and column, from 1, where the JSON pointer ``path`` stands in ``text``.

    A member of an object stands where its key does. None when there is no such place or
    ``text`` is not JSON.
    """
    places = _places(text)
    offset = places.offsets.get(path) if places is not None else None
    return None if places is None or offset is None else places.line_column(offset)


def place(problems: Iterable[Problem], text: str, file: str | None = None) -> list[Problem]:
    """``problems`` with file, line and column added.

    A problem about something missing gets the place of the nearest thing that is there.
    """
    found = list(problems)
    places = _places(text) if found else None
    if places is None:
        return [problem.at(file=file) for problem in found]
    return [places.at(problem, places.nearest(problem.path), file) for problem in found]


def _places(text: str) -> JsonPlaces | None:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return JsonPlaces(text)
