"""What the parts of an exported run must be, so that every reader of a run can read them: the JSON
Schemas in ``schemas/``, and bounds of size and depth. Anybody may have made the file."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from control_plane import payload
from control_plane.documents import RUN_OVER, StateDocument, schema
from control_plane.errors import BadDocument, BadName
from control_plane.keys import check_workflow_id, split_path
from control_plane.run_document import LATEST_MS

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

MOST_VALUES = 1_000_000
"""Values and names of members in the JSON of one part, blobs apart."""
DEEPEST = 120
"""Levels of nesting: RedisJSON takes 128."""
STORED = {"meta": ("input",), "state": ("input", "variables", "event", "fan"), "output": ("data",)}
"""Members in which values stand as ``payload`` stores them, by the kind of the document."""
_VALUE = re.compile(r'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"?|[\[{]|[^\s\[\]{},:"]++', re.DOTALL)
_ENTRY = re.compile(r"([0-9]{1,15})-([0-9]{1,20})")
_WHOLE = re.compile(r"[0-9]{1,15}")
_RESERVED = re.compile(r"\{[^{}]*\}")
_LONGEST_NAME = 16 * 1024
_EXACT = 2**53  # Lua counts in doubles.
_SCHEMAS = {"meta": "meta", "state": "state", "output": "output", "audit": "finalize"}
_LONGEST_WHY = 200


class BadPart(Exception):
    """Why a part is not what it should be, for people."""


def check_part(kind: str, name: str, text: str) -> Any:
    """What the JSON in a part says, None for a path or a blob. Raises BadPart."""
    if kind in ("path", "state", "output", "calls"):
        _check_path(name)
    elif kind != "blob" and name:
        raise BadPart(f"it has a name, {_short(repr(name))}, and none of its kind has one")
    match kind:
        case "path":
            return None
        case "blob":
            return _check_blob(name, text)
        case "history":
            return _event(_texts(text))
        case "chain" | "calls" | "agents":
            return _hash(kind, _texts(text))
        case _:
            return _document(kind, name, text)


def check_meta(text: str, workflow_id: object) -> dict[str, Any]:
    """The document of this run in ``text``. Raises BadPart unless it is over and sealed."""
    raw = parse(text)
    _check_schema("meta", raw)
    try:
        check_workflow_id(raw["workflow_id"])
    except BadName as error:
        raise BadPart(str(error)) from error
    ctl = raw["ctl"]
    if raw["workflow_id"] != workflow_id:
        raise BadPart(f"it is of {raw['workflow_id']}, and line 1 says {_short(repr(workflow_id))}")
    if ctl["status"] != raw["status"]:
        raise BadPart(f"ctl.status is {ctl['status']}, and status {raw['status']}: they are one")
    missing = [one for one in ("finished_at", "finalized_at") if raw.get(one) is None]
    if ctl["status"] not in RUN_OVER:
        raise BadPart(f"it is not sealed: it is {ctl['status']}")
    if ctl.get("finalized") is not True:
        missing.append("ctl.finalized")
    if missing:
        raise BadPart(f"it is not sealed: it is without {' and '.join(missing)}")
    moving = [one for one in ("removing", "restoring", "restored") if one in ctl]
    if moving:
        raise BadPart(f"it is not sealed: it has ctl.{moving[0]}, which no finished run has")
    _check_stored("meta", raw)
    document: dict[str, Any] = raw
    return document


def check_order(entry: str, last: tuple[int, int]) -> tuple[int, int]:
    """The place of a history's entry after the ``last`` one. Raises BadPart."""
    ms, number = map(int, entry.split("-"))
    if (ms, number) <= last:
        raise BadPart(
            f"it stands after {last[0]}-{last[1]}: each id is greater than the one before"
        )
    return ms, number


def parse(text: str) -> Any:
    """The JSON value in ``text``. Raises BadPart for what is no JSON, or over the bounds."""
    if has_too_many_values(text):
        raise BadPart(f"it has more than {MOST_VALUES:,} values")
    value = _json(text)
    if payload.is_too_deep(value, DEEPEST):
        raise BadPart(f"it is nested deeper than {DEEPEST} levels")
    return value


def has_too_many_values(text: str) -> bool:
    """Whether the JSON in ``text`` has more than ``MOST_VALUES``; found without reading it."""
    if len(text) <= MOST_VALUES:
        return False
    return any(True for _ in islice(_VALUE.finditer(text), MOST_VALUES, None))


def _json(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_no_number)
        # A lone surrogate and a number beyond a double are read, and cannot be stored.
        payload.to_text(value)
    except (ValueError, RecursionError) as error:
        raise BadPart(f"it is not JSON ({error})") from error
    except BadDocument as error:
        raise BadPart(f"it is not JSON that can be stored ({error.fields['reason']})") from error
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _check_path(name: str) -> None:
    if len(name) > _LONGEST_NAME:
        raise BadPart(f"its name has more than {_LONGEST_NAME:,} characters")
    try:
        split_path(name)
    except (BadName, ValueError) as error:
        raise BadPart(_short(str(error))) from error


def _check_blob(name: str, text: str) -> None:
    if payload.digest(text) != name:
        raise BadPart(f"blob {name[:64]} does not match its digest")
    if len(text.encode()) > payload.BLOB_LIMIT:
        raise BadPart(f"it has more than {payload.BLOB_LIMIT:,} bytes")
    _json(text)


def _texts(text: str) -> list[str]:
    value = parse(text)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadPart("it is not an array of strings")
    return value


def _event(fields: list[str]) -> list[str]:
    if len(fields) != 4:
        raise BadPart("it is not [entry, at, event, digest]")
    entry, at, event, _ = fields
    id_ = _ENTRY.fullmatch(entry)
    if id_ is None or not (0 < int(id_[1]) <= LATEST_MS and int(id_[2]) < 2**64):
        raise BadPart(
            f"its id is {_short(repr(entry))}, and must be milliseconds of at most 15 digits, "
            "a hyphen and a number of 64 bits"
        )
    if _WHOLE.fullmatch(at) is None:
        raise BadPart(f"its time is {_short(repr(at))}, and must be milliseconds of 15 digits")
    _check_schema("event", parse(event))
    return fields


def _hash(kind: str, flat: list[str]) -> dict[str, str]:
    if not flat or len(flat) % 2:
        raise BadPart("it is not an array of names and values")
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    for name, value in fields.items() if kind == "chain" else ():
        # What was reserved for a request to a model, of which nobody said what it came to.
        right = _RESERVED if name.startswith("model_held:") else _WHOLE
        if name != "digest" and right.fullmatch(value) is None:
            raise BadPart(f"{_short(repr(name))} is {_short(repr(value))}, and must be a number")
    return fields


def _document(kind: str, name: str, text: str) -> Any:
    raw = parse(text)
    _check_schema(_SCHEMAS[kind], raw)
    _check_stored(kind, raw)
    if kind == "state":
        if raw["path"] != name.partition("@")[0]:
            raise BadPart(f"its path is {_short(repr(raw['path']))}, and its name another")
        try:
            StateDocument.parse(text)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise BadPart(f"it cannot be read ({_short(str(error))})") from error
    return raw


def _check_stored(kind: str, raw: dict[str, Any]) -> None:
    """Values stand in documents as ``payload`` stores them."""
    for member in STORED.get(kind, ()):
        stored = raw.get(member)
        if not isinstance(stored, dict):
            continue
        for mark in ("$json", "$blob"):
            if mark in stored and not isinstance(stored[mark], str):
                raise BadPart(
                    f"{member}.{mark} is {_short(repr(stored[mark]))}, and must be a text"
                )
        if "$json" in stored:
            try:
                parse(stored["$json"])
            except BadPart as error:
                raise BadPart(f"{member}.$json: {error}") from error


def _check_schema(name: str, value: Any) -> None:
    error = next(_validator(name).iter_errors(value), None)
    if error is not None:
        place = ".".join(map(str, error.absolute_path))
        raise BadPart(
            f"{_short(place)}: {_short(error.message)}" if place else _short(error.message)
        )


@cache
def _validator(name: str) -> Draft202012Validator:
    # It takes longer to import than most commands to run.
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: object, rule: str, value: Any, __: object) -> Any:
        # A `$` matches before the end of a line too.
        if isinstance(value, str) and re.fullmatch(rule, value) is None:
            yield ValidationError(f"{value!r} does not match {rule!r}")

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"integer": _is_integer, "number": _is_number}
    )
    untyped: Any = extend
    made = untyped(Draft202012Validator, {"pattern": pattern}, type_checker=types)
    validator: Draft202012Validator = made(schema(name))
    return validator


def _is_integer(_: object, value: object) -> bool:
    """``5.0`` is an integer for JSON Schema, and none for who formats a time."""
    return type(value) is int and abs(value) < _EXACT


def _is_number(_: object, value: object) -> bool:
    return _is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))


def _short(text: str) -> str:
    """Found and rule stand at the two ends of a message of a schema."""
    if len(text) <= _LONGEST_WHY:
        return text
    return f"{text[: _LONGEST_WHY // 2]} … {text[-_LONGEST_WHY // 2 :]}"
