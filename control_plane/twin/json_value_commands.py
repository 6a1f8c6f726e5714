"""The JSON.* commands on numbers, arrays, objects and strings inside a document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from control_plane.errors import ServerError
from control_plane.twin import json_text
from control_plane.twin.command import Args, Command, Commands, Reply
from control_plane.twin.document import Document
from control_plane.twin.json_commands import document, missing, type_name
from control_plane.twin.json_path import MISSING, JsonPath
from control_plane.twin.json_path import parse as parse_path
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import I64_MAX, I64_MIN, wrapped

_NO_KEY = "ERR could not perform this operation on a key that doesn't exist"


def _existing(space: Keyspace, key: str) -> Document:
    found = document(space, key)
    if found is None:
        raise ServerError(_NO_KEY)
    return found


def _json_numincrby(space: Keyspace, args: Args) -> Reply:
    path = parse_path(args[1])
    found = _existing(space, args[0])
    value = found.find(path.steps)
    if type(value) not in (int, float):
        if path.legacy:
            raise missing(path, " or does not contains a number")
        return "[]" if value is MISSING else "[null]"
    try:
        step = json_text.parse(args[2])
    except ServerError as error:
        raise ServerError(f"ERR {error}") from error
    if type(step) not in (int, float):
        raise ServerError("bad input number")
    total = _sum(value, step)
    found.set(path.steps, total)
    text = json_text.dump(total)
    return text if path.legacy else f"[{text}]"


def _sum(value: int | float, step: int | float) -> int | float:
    """Integers of 63 bits wrap around, anything else adds as floats. Raises ServerError."""
    if all(isinstance(term, int) and I64_MIN <= term <= I64_MAX for term in (value, step)):
        return wrapped(int(value) + int(step))
    total = float(value) + float(step)
    if total in (float("inf"), float("-inf")):
        raise ServerError("ERR result is not a number")
    return total


def _json_arrappend(space: Keyspace, args: Args) -> Reply:
    path = parse_path(args[1])
    items = [json_text.parse(text) for text in args[2:]]
    found = _existing(space, args[0])
    value = found.find(path.steps)
    if type(value) is list:
        value.extend(items)
        found.changed()
        return len(value) if path.legacy else [len(value)]
    if path.legacy:
        raise ServerError(f"ERR Path '{path.text}' does not exist or not an array")
    return [] if value is MISSING else [None]


def _measure(
    space: Keyspace,
    args: Args,
    wanted: type,
    measure: Callable[[Any], Reply],
    mismatch: Callable[[JsonPath, Any], Reply],
) -> Reply:
    """``measure`` of the value at the path; ``mismatch`` answers for an older path."""
    path = parse_path(args[1] if len(args) > 1 else ".")
    found = document(space, args[0])
    if found is None:
        if path.legacy:
            return None
        raise ServerError(_NO_KEY)
    value = found.find(path.steps)
    if type(value) is wanted:
        return measure(value) if path.legacy else [measure(value)]
    if path.legacy:
        return mismatch(path, value)
    return [] if value is MISSING else [None]


def _no_array(path: JsonPath, value: Any) -> Reply:
    more = "" if value is MISSING else " or not an array"
    raise ServerError(f"ERR Path '{path.text}' does not exist{more}")


def _no_object(path: JsonPath, value: Any) -> Reply:
    if value is MISSING:
        return None
    raise missing(path, " or not an object")


def _no_string(path: JsonPath, value: Any) -> Reply:
    if value is MISSING:
        raise missing(path)
    raise ServerError(
        f"WRONGTYPE wrong type of path value - expected string but found {type_name(value)}"
    )


def _json_arrlen(space: Keyspace, args: Args) -> Reply:
    return _measure(space, args, list, len, _no_array)


def _json_objkeys(space: Keyspace, args: Args) -> Reply:
    return _measure(space, args, dict, list, _no_object)


def _json_strlen(space: Keyspace, args: Args) -> Reply:
    return _measure(space, args, str, lambda text: len(text.encode()), _no_string)


COMMANDS: Commands = {
    "JSON.NUMINCRBY": Command(_json_numincrby, 3, 3),
    "JSON.ARRAPPEND": Command(_json_arrappend, 3, None),
    "JSON.ARRLEN": Command(_json_arrlen, 1, 2),
    "JSON.OBJKEYS": Command(_json_objkeys, 1, 2),
    "JSON.STRLEN": Command(_json_strlen, 1, 2),
}
