"""Runs the same on the twin and on a real server, and says where they differ."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Coroutine, Sequence
from typing import Any

from redis import Redis
from redis.exceptions import ResponseError

from control_plane.errors import ServerError
from control_plane.script import Script
from control_plane.twin import Twin

_JSON_COMPLAINT = re.compile(r".* at line \d+ column \d+")
_SCRIPT_PLACE = re.compile(r" script: [0-9a-f]{40}.*")
_LINE = re.compile(r"user_script:\d+: ")
_UNORDERED = {"SMEMBERS", "KEYS", "HGETALL", "SSCAN"}


def now(steps: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    try:
        steps.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("the twin waited")


class Failure:
    """An error reply. Two are equal when their texts are, up to what cannot be the same."""

    def __init__(self, text: str) -> None:
        # The parsers of JSON differ in their words and places; that both refuse must be the same.
        text = "no JSON" if _JSON_COMPLAINT.fullmatch(text) else text
        # A server knows the line of a tail call, plain Lua does not.
        self.text = _LINE.sub("", _SCRIPT_PLACE.sub("", text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failure) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Failure({self.text!r})"


class Wire:
    """One connection to a server, used without interpretation of replies."""

    def __init__(self, client: Redis) -> None:
        self._connection = client.connection_pool.get_connection()

    def command(self, *args: str | int) -> Any:
        """The reply; errors as Failure, with the code that redis-py takes off."""
        self._connection.send_command(*args)
        try:
            return _plain(self._connection.read_response())
        except ResponseError as error:
            return _failure(error)


def _failure(error: Exception) -> Failure:
    code = getattr(error, "status_code", None)
    return Failure(f"{code} {error}" if code else str(error))


def _plain(reply: Any) -> Any:
    if isinstance(reply, list):
        return [_plain(item) for item in reply]
    return _failure(reply) if isinstance(reply, Exception) else reply


class Pair:
    """The twin, with the server's clock, and the server."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        wire.command("FLUSHALL")
        self.twin = Twin(lambda: time.time_ns() // 1000, strict_keys=False)

    def both(self, *args: str | int) -> tuple[Any, Any]:
        """The reply of the twin and the reply of the server."""
        return self.on_twin(*args), self._wire.command(*args)

    def on_twin(self, *args: str | int) -> Any:
        """The reply of the twin, errors as Failure."""
        try:
            return _plain(now(self.twin.command(*args)))
        except ServerError as error:
            return _failure(error)

    def check(self, *args: str | int) -> Any:
        """The reply that both give; fails when they differ."""
        name = str(args[0]).upper()
        twin, server = (_comparable(name, reply, len(args) - 2) for reply in self.both(*args))
        assert twin == server, f"{args}: twin {twin!r}, server {server!r}"
        return twin

    def script(self, source: str, keys: Sequence[str] = (), args: Sequence[str | int] = ()) -> Any:
        """The reply of a script on both; fails when they differ."""
        try:
            twin = _plain(now(self.twin.run(Script("test", source), keys, args)))
        except ServerError as error:
            twin = _failure(error)
        server = self._wire.command("EVAL", source, len(keys), *keys, *args)
        assert twin == server, f"{source}: twin {twin!r}, server {server!r}"
        return twin

    def check_content(self) -> None:
        """Every key holds the same on both."""
        for key in self.check("KEYS", "*"):
            for command in _READERS[self.check("TYPE", key)]:
                self.check(*(key if part is None else part for part in command))
            ttls = self.both("TTL", key)
            assert abs(ttls[0] - ttls[1]) <= 1, f"{key} expires differently: {ttls}"
            for group in self._groups(key):
                self.check("XPENDING", key, group)
                self.check("XPENDING", key, group, "-", "+", 100)

    def _groups(self, key: str) -> list[str]:
        if self.on_twin("TYPE", key) != "stream":
            return []
        return [group[1] for group in self.on_twin("XINFO", "GROUPS", key)]


_READERS: dict[str, list[tuple[str | None, ...]]] = {
    "string": [("GET", None)],
    "hash": [("HGETALL", None)],
    "set": [("SMEMBERS", None)],
    "zset": [("ZRANGE", None, "0", "-1", "WITHSCORES")],
    "ReJSON-RL": [("JSON.GET", None)],
    "stream": [
        ("XRANGE", None, "-", "+"),
        ("XINFO", "STREAM", None),
        ("XINFO", "GROUPS", None),
    ],
}


def _comparable(name: str, reply: Any, paths: int = 0) -> Any:
    """``reply`` without what may differ: order of sets, idle times, the server's inner trees."""
    if isinstance(reply, Failure) or reply is None:
        return reply
    if name in _UNORDERED:
        return sorted(map(repr, reply)) if name != "KEYS" else sorted(reply)
    if name == "XPENDING" and isinstance(reply, list) and reply and isinstance(reply[0], list):
        return [[entry, consumer, deliveries] for entry, consumer, _, deliveries in reply]
    if name == "XINFO" and isinstance(reply, list) and reply and "inactive" in reply[0]:
        # … but whether it ever got anything may not.
        return [[*row[:4], row[7] < 0] for row in reply]
    if name == "XINFO" and isinstance(reply, list) and "radix-tree-keys" in reply:
        return reply[:2] + reply[6:]
    if name == "JSON.GET" and paths > 1:
        return json.loads(reply)  # several paths come in any order
    return reply
