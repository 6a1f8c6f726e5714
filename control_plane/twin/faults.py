"""Errors on order: the n-th matching command of a script is answered with an error, or all that
write are refused, as by a server that is out of memory or has become a replica."""

from __future__ import annotations

from dataclasses import dataclass

from control_plane.errors import ServerError

ANY_COMMAND = "*"
TAKES_MEMORY = frozenset(
    {"COPY", "HINCRBY", "HSET", "INCR", "INCRBY", "JSON.ARRAPPEND", "JSON.MSET"}
    | {"JSON.SET", "SADD", "SET", "SETNX", "XADD", "XGROUP", "ZADD", "ZINCRBY"}
)
"""What a server refuses that is out of memory (the flag ``denyoom`` of COMMAND INFO)."""
WRITES = TAKES_MEMORY | frozenset(
    {"DEL", "EXPIRE", "FLUSHALL", "HDEL", "JSON.DEL", "JSON.FORGET", "JSON.NUMINCRBY"}
    | {"PERSIST", "PEXPIRE"}
    | {"RENAME", "SREM", "UNLINK", "XACK", "XAUTOCLAIM", "XCLAIM", "XDEL", "XREADGROUP", "XTRIM"}
    | {"ZPOPMIN", "ZREM"}
)
"""What any other server refuses that takes no writes (the flag ``write``)."""


@dataclass(slots=True)
class _Fault:
    name: str
    message: str
    remaining: int


class Faults:
    """Faults that wait for their command. Each strikes once; the command is then not executed."""

    def __init__(self) -> None:
        self._armed: list[_Fault] = []

    def __bool__(self) -> bool:
        return bool(self._armed)

    def arm(self, name: str, message: str, nth: int) -> None:
        """Answer the ``nth`` command ``name`` (``*``: any) from now on with ``message``."""
        if nth < 1:
            raise ValueError(f"nth counts from 1, got {nth}")
        self._armed.append(_Fault(name.upper(), message, nth))

    def clear(self) -> None:
        """Disarm all."""
        self._armed.clear()

    def strike(self, name: str) -> str | None:
        """Count the command ``name``; the error it gets, if its time has come."""
        message = None
        for fault in [fault for fault in self._armed if fault.name in (name, ANY_COMMAND)]:
            fault.remaining -= 1
            if fault.remaining == 0:
                self._armed.remove(fault)
                message = message or fault.message
        return message


class Refusing:
    """Refuses with ``message`` while there is one. A script that has written is let go on, since
    no server undoes what it wrote."""

    def __init__(self) -> None:
        self.message: str | None = None
        self._written = False

    def begin(self) -> None:
        """A script, or a command alone, begins."""
        self._written = False

    def check(self, name: str) -> None:
        """Raises ServerError when the command ``name`` is refused."""
        message = self.message
        if message is not None and not self._written:
            refused = TAKES_MEMORY if message.startswith("OOM ") else WRITES
            if name in refused:
                raise ServerError(message)
        self._written = self._written or name in WRITES
