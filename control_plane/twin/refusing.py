"""A twin that refuses writes, as a server does that is out of memory or has become a replica."""

from __future__ import annotations

from control_plane.errors import ServerError

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
