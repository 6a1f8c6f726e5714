"""Lua 5.1 as Redis sets it up, around one function that executes commands."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

import lupa.lua51 as lupa

from control_plane.errors import ServerError
from control_plane.script import Script
from control_plane.twin.command import Reply, Status
from control_plane.twin.numbers import I64_MAX, I64_MIN, format_float

Execute = Callable[[str, list[str]], Reply]

# The chunk name of a server, which stands in its messages.
_CHUNK = b"@user_script"
_BAD_ARGUMENT = "ERR Lua redis lib command arguments must be strings or integers"
_NO_ARGUMENT = "ERR Please specify at least one argument for this redis lib call"


class LuaRuntime:
    """Runs scripts. ``execute(name, arguments)`` is called for each ``redis.call``."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        # Nothing of Python is reachable from a script, not even the attributes of `dispatch`.
        self._lua = lupa.LuaRuntime(
            register_eval=False,
            register_builtins=False,
            attribute_filter=_no_attributes,
            unpack_returned_tuples=True,
        )
        self._table = self._lua.table_from
        sandbox, decode, encode = map(self._own, ("sandbox", "cjson_decode", "cjson_encode"))
        self._prepare, self._call, self._limit, self._trace = sandbox(
            self._dispatch, _sha1hex, decode, encode
        )
        self._functions: dict[str, Any] = {}
        self._lines: dict[str, set[int]] | None = None

    def limit(self, instructions: int) -> None:
        """From now on a script fails that goes on for more than so many (roughly)."""
        self._limit(instructions)

    def trace(self) -> dict[str, set[int]]:
        """The lines that run from now on, by the name of the script; it fills while they do."""
        self._lines = {}
        return self._lines

    def run(self, script: Script, keys: Sequence[str], args: Sequence[str]) -> Reply:
        """The reply of ``script``. Raises ServerError as EVALSHA answers with an error."""
        function = self._functions.get(script.sha1) or self._compile(script)
        ran = None if self._lines is None else self._trace()
        done, result = self._call(function, self._table(keys), self._table(args))
        if ran is not None and self._lines is not None:
            self._lines.setdefault(script.name, set()).update(ran)
        if done:
            reply = _reply(result)
            if isinstance(reply, ServerError):
                raise reply
            return reply
        if isinstance(result, BaseException):
            raise result
        line = result["line"]
        place = f", on @user_script:{line}" if line is not None else ""
        raise ServerError(f"{result['text']} script: {script.sha1}{place}.")

    def _own(self, name: str) -> Any:
        """One of the Lua files beside this one, compiled."""
        source = (resources.files("control_plane.twin") / f"{name}.lua").read_text(encoding="utf-8")
        return self._lua.compile(source, name=f"@{name}".encode())

    def _compile(self, script: Script) -> Any:
        try:
            function = self._lua.compile(_bytecode(script.source), name=_CHUNK)
        except lupa.LuaSyntaxError as error:
            raise ServerError(f"ERR Error compiling script (new function): {error}") from error
        function = self._functions[script.sha1] = self._prepare(function)
        return function

    def _dispatch(self, *args: Any) -> Any:
        """What ``redis.pcall`` gives: the reply as a Lua value, errors as a table."""
        try:
            if not args:
                raise ServerError(_NO_ARGUMENT)
            texts = [arg if type(arg) is str else _argument(arg) for arg in args]
            reply = self._execute(texts[0], texts[1:])
        except ServerError as error:
            return self._table({"err": str(error), "ignore_error_stats_update": True})
        return self._lua_value(reply)

    def _lua_value(self, reply: Reply) -> Any:
        kind = type(reply)
        if kind is str or kind is int:
            return reply
        if reply is None:
            return False
        if isinstance(reply, Status):
            return self._table({"ok": str(reply)})
        assert isinstance(reply, list)
        return self._table([self._lua_value(item) for item in reply])


@lru_cache(maxsize=64)
def _bytecode(source: str) -> bytes:
    """A script as Lua compiles it, with its lines. A program makes twins by the hundred, and
    to load this takes a seventh of the time. Raises LuaSyntaxError."""
    # An encoding that takes all bytes.
    lua = lupa.LuaRuntime(encoding="latin-1", register_eval=False, register_builtins=False)
    dump: Callable[[Any], str] = lua.globals().string.dump
    return dump(lua.compile(source.encode(), name=_CHUNK)).encode("latin-1")


def _no_attributes(target: object, name: object, is_setting: bool) -> Any:
    raise AttributeError(f"{name} is not for scripts")


def _sha1hex(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _argument(value: Any) -> str:
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return format_float(value)
    raise ServerError(_BAD_ARGUMENT)


def _reply(value: Any) -> Reply:
    """A Lua value as a reply: numbers lose their fraction, arrays end at the first nil."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return 1 if value else None
    if kind is float:
        return int(value) if I64_MIN <= value <= I64_MAX else I64_MIN
    if lupa.lua_type(value) != "table":
        return None
    return _table_reply(value)


def _table_reply(table: Any) -> Reply:
    for field, wrap in (("err", ServerError), ("ok", Status)):
        text = table[field]
        if type(text) is str:
            return wrap(text)
    items: list[Reply] = []
    while (item := table[len(items) + 1]) is not None:
        items.append(_reply(item))
    return items
