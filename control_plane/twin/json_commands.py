"""The JSON.* commands that read, write and remove values."""

from __future__ import annotations

from typing import Any

from control_plane.errors import ServerError
from control_plane.twin import json_text
from control_plane.twin.command import (
    OK,
    Args,
    Command,
    Commands,
    Reply,
    syntax_error,
    wrong_arity,
)
from control_plane.twin.defects import Unsupported
from control_plane.twin.document import Condition, Document
from control_plane.twin.json_path import MISSING, JsonPath, Step
from control_plane.twin.json_path import parse as parse_path
from control_plane.twin.keyspace import Keyspace

NOT_AT_ROOT = "ERR new objects must be created at the root"
_WRONG_TYPE = "Existing key has wrong Redis type"


def document(space: Keyspace, key: str) -> Document | None:
    """The document at ``key``. Raises ServerError when the key holds something else."""
    value = space.find(key)
    if value is None or type(value) is Document:
        return value
    raise ServerError(_WRONG_TYPE)


def missing(path: JsonPath, more: str = "") -> ServerError:
    """The complaint about an older path that leads nowhere."""
    return ServerError(f"ERR Path '{path.shown}' does not exist{more}")


def _json_get(space: Keyspace, args: Args) -> Reply:
    key, *texts = args
    paths = [parse_path(text) for text in texts] or [parse_path(".")]
    found = document(space, key)
    if found is None:
        return None
    if len(paths) > 1:
        return _several(found, paths)
    path = paths[0]
    text = found.text(path.steps)
    if path.legacy:
        if text is None:
            raise missing(path)
        return text
    return "[]" if text is None else f"[{text}]"


def _several(found: Document, paths: list[JsonPath]) -> str:
    """An object of path to value; lists of matches as soon as one path is of the newer kind."""
    legacy = all(path.legacy for path in paths)
    members = {}
    for path in paths:
        text = found.text(path.steps)
        if legacy and text is None:
            raise ServerError(f"ERR Path '{path.text}' does not exist")
        members[path.text] = text if legacy else f"[{text or ''}]"
    return "{" + ",".join(f"{json_text.dump(name)}:{text}" for name, text in members.items()) + "}"


def _json_mget(space: Keyspace, args: Args) -> Reply:
    path = parse_path(args[-1])
    replies: list[Reply] = []
    for key in args[:-1]:
        found = space.find(key)
        text = found.text(path.steps) if isinstance(found, Document) else None
        if found is None or not isinstance(found, Document) or path.legacy:
            replies.append(text)
        else:
            replies.append(f"[{text or ''}]")
    return replies


_CONDITIONS = {"NX": Condition.IF_MISSING, "XX": Condition.IF_PRESENT}


def _json_set(space: Keyspace, args: Args) -> Reply:
    key, path_text, text, *options = args
    condition = Condition.ALWAYS
    if options:
        if len(options) > 1 or options[0].upper() not in _CONDITIONS:
            raise syntax_error()
        condition = _CONDITIONS[options[0].upper()]
    path = parse_path(path_text)
    found = document(space, key)
    value = json_text.parse(text)
    if found is not None:
        return OK if found.set(path.steps, value, condition) else None
    if condition is Condition.IF_PRESENT:
        return None
    if path.steps:
        raise ServerError(NOT_AT_ROOT)
    space.put(key, Document(value))
    return OK


def _json_mset(space: Keyspace, args: Args) -> Reply:
    """All or nothing: every key, path and text is checked before the first write."""
    if len(args) % 3:
        raise wrong_arity("json.mset")
    writes: list[tuple[str, JsonPath, Any]] = []
    for key, path_text, text in zip(*[iter(args)] * 3, strict=True):
        path = parse_path(path_text)
        found = document(space, key)
        if found is None and path.steps:
            raise ServerError(NOT_AT_ROOT)
        if found is not None:
            found.check(path.steps)
        writes.append((key, path, json_text.parse(text)))
    _check_apart(writes)
    for key, path, value in writes:
        found = document(space, key)
        if found is None:
            space.put(key, Document(value))
        else:
            found.set(path.steps, value)
    return OK


def _check_apart(writes: list[tuple[str, JsonPath, Any]]) -> None:
    """Refuse to write below a value that the same command replaces: a server looks up all places
    first, and then either ignores the second write or crashes."""
    written: dict[str, list[tuple[Step, ...]]] = {}
    for key, path, _ in writes:
        before = written.setdefault(key, [])
        for steps in before:
            if len(steps) < len(path.steps) and path.steps[: len(steps)] == steps:
                raise Unsupported(f"JSON.MSET {key}: {path.text} lies below a path written before")
        before.append(path.steps)


def _mset_keys(args: Args) -> Args:
    return args[::3]


def _mget_keys(args: Args) -> Args:
    return args[:-1]


def _json_del(space: Keyspace, args: Args) -> Reply:
    found = document(space, args[0])
    if found is None:
        return 0
    steps = parse_path(args[1]).steps if len(args) > 1 else ()
    if not steps:
        return int(space.delete(args[0]))
    return int(found.remove(steps))


_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


def type_name(value: Any) -> str:
    """The JSON type of ``value``; integers and other numbers are told apart."""
    return _TYPES.get(type(value)) or ("integer" if type(value) is int else "number")


def _json_type(space: Keyspace, args: Args) -> Reply:
    path = parse_path(args[1] if len(args) > 1 else ".")
    found = document(space, args[0])
    if found is None:
        return None
    value = found.find(path.steps)
    name = None if value is MISSING else type_name(value)
    if path.legacy:
        return name
    return [] if name is None else [name]


COMMANDS: Commands = {
    "JSON.GET": Command(_json_get, 1, None),
    "JSON.MGET": Command(_json_mget, 2, None, _mget_keys),
    "JSON.SET": Command(_json_set, 3, None),
    "JSON.MSET": Command(_json_mset, 3, None, _mset_keys),
    "JSON.DEL": Command(_json_del, 1, 2),
    "JSON.FORGET": Command(_json_del, 1, 2),
    "JSON.TYPE": Command(_json_type, 1, 2),
}
