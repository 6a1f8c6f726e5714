"""Redis with JSON in this process: the same commands, the same Lua, a clock from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane.errors import ServerError
from control_plane.script import Script
from control_plane.twin.catalog import COMMANDS
from control_plane.twin.command import Reply
from control_plane.twin.defects import UndeclaredKey, Unsupported
from control_plane.twin.faults import Faults, Refusing
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.lua_runtime import LuaRuntime
from control_plane.twin.shelf import Shelf, raise_as_backends_do
from control_plane.twin.stream_reads import READS, Read
from control_plane.twin.waiters import Waiters


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of a twin at one moment."""

    content: Keyspace


class Twin(Shelf):
    """A ``Backend`` without a server. Nothing in it waits except a blocking read.

    ``clock`` gives microseconds since the epoch; a script sees one moment throughout.
    With ``strict_keys`` a script may touch only keys it declares, or keys with the hash tag
    (``{…}``) of a declared one, which a cluster keeps on the same node; otherwise UndeclaredKey.
    """

    def __init__(self, clock: Callable[[], int], *, strict_keys: bool = True) -> None:
        super().__init__(clock)
        self._strict = strict_keys
        self._faults = Faults()
        self._refusing = Refusing()
        self._waiters = Waiters()
        self._declared: frozenset[str] = frozenset()
        self._tags: frozenset[str] = frozenset()
        self._calls: list[tuple[str, list[str]]] = []
        self._lua = LuaRuntime(self._execute_in_script)

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``. What a failing script wrote before its error stays written."""
        self._space.now_us = self._clock()
        self._calls = []
        self._refusing.begin()
        if self._strict:
            self._declared = frozenset(keys)
            self._tags = frozenset(map(_hash_tag, keys))
        try:
            return self._lua.run(script, keys, [str(arg) for arg in args])
        except ServerError as error:
            raise_as_backends_do(error)
        finally:
            self._waiters.wake(self._space)

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``. XREAD and XREADGROUP with BLOCK wait for an entry."""
        name, *texts = map(str, args)
        name = name.upper()
        self._space.now_us = self._clock()
        self._refusing.begin()
        self._refusing.check(name)
        try:
            if name in READS:
                read = READS[name](texts)
                reply: Reply = read.attempt(self._space)
            else:
                return self._execute(name, texts)
        except ServerError as error:
            raise_as_backends_do(error)
        finally:
            self._waiters.wake(self._space)
        if reply is None and read.block_ms is not None:
            return await self._block(read, read.block_ms)
        return reply

    async def _block(self, read: Read, block_ms: int) -> Reply:
        """Repeat ``read`` each time one of its keys changes; None after ``block_ms`` (0: never)."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + block_ms / 1000 if block_ms else None
        while True:
            try:
                async with asyncio.timeout_at(deadline), self._waiters.changes(read.keys) as change:
                    await change
            except TimeoutError:
                return None
            self._space.now_us = self._clock()
            reply = read.attempt(self._space)
            if reply is not None:
                return reply

    def _execute_in_script(self, name: str, args: list[str]) -> Reply:
        command = COMMANDS.get(name)
        if command is None:
            name = name.upper()
            command = COMMANDS.get(name)
            if command is None:
                raise Unsupported(f"the command {name}")
        self._calls.append((name, args))
        if self._faults:
            message = self._faults.strike(name)
            if message is not None:
                raise ServerError(message)
        self._refusing.check(name)
        if not command.accepts(len(args)):
            raise ServerError("ERR Wrong number of args calling Redis command from script")
        if self._strict:
            self._check_keys(name, command.keys(args))
        return command.run(self._space, args)

    def _check_keys(self, name: str, keys: Sequence[str]) -> None:
        for key in keys:
            if key not in self._declared and _hash_tag(key) not in self._tags:
                raise UndeclaredKey(f"{name} touches {key!r}, which is not among KEYS")

    # For tests ------------------------------------------------------------------------------

    def fail_next(self, command_name: str, message: str, nth: int = 1) -> None:
        """Answer the ``nth`` matching command inside scripts with the error ``message``.

        ``*`` matches every command. The command is not executed; the fault strikes once.
        """
        self._faults.arm(command_name, message, nth)

    def refuse(self, message: str | None) -> None:
        """Refuse writes with the error ``message`` from now on; with None no longer."""
        self._refusing.message = message

    def limit_scripts(self, instructions: int) -> None:
        """Let a script fail that goes on for more than so many, for scripts that may never end."""
        self._lua.limit(instructions)

    def trace_scripts(self) -> dict[str, set[int]]:
        """The lines of scripts that run from now on, by script; it fills while they do."""
        return self._lua.trace()

    def clear_faults(self) -> None:
        """Forget faults that did not strike."""
        self._faults.clear()

    @property
    def last_calls(self) -> tuple[str, ...]:
        """The commands of the last script, in order, refused ones included."""
        return tuple(name for name, _ in self._calls)

    @property
    def last_commands(self) -> Sequence[tuple[str, list[str]]]:
        """The same with their arguments."""
        return self._calls

    def value(self, key: str) -> Any:
        """What stands at ``key``, as ``dump`` gives it; None for nothing."""
        found = self._space.find(key)
        return None if found is None else found.plain()

    def expiry(self, key: str) -> int | None:
        """When ``key`` expires (ms since the epoch); None for never."""
        return self._space.expiry(key)

    def snapshot(self) -> Snapshot:
        """The present content; ``restore`` may be given it any number of times."""
        return Snapshot(self._space.copy())

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to ``snapshot``, as a server does that lost its last writes."""
        self._space.replace_by(snapshot.content.copy())
        self._waiters.wake(self._space)

    def dump(self) -> dict[str, dict[str, Any]]:
        """Every key with ``type``, ``value`` and ``expires_ms`` (or None), sorted by key."""
        self._space.now_us = self._clock()
        content = {}
        for key in sorted(self._space.live_keys()):
            value = self._space.find(key)
            assert value is not None  # live_keys() lists live keys only
            content[key] = {
                "type": value.kind,
                "value": value.plain(),
                "expires_ms": self._space.expiry(key),
            }
        return content


def _hash_tag(key: str) -> str:
    """What a cluster hashes: the text in the first braces, or the whole key."""
    _, opening, rest = key.partition("{")
    tag, closing, _ = rest.partition("}")
    return tag if opening and closing and tag else key
