"""The two things the control plane asks of a Redis: run a script, run a command.

``RedisBackend`` (a real server) and the in-process twin both satisfy ``Backend`` and pass the same
contract tests; nothing above this file knows which one it talks to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from control_plane.script import Script


class Backend(Protocol):
    """A Redis with JSON, real or in process. Bulk strings come back as ``str``."""

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """Run ``script`` atomically; its Lua result as Python lists, strings and ints.

        Raises ``ServerError`` for an error reply and ``Disconnected`` when the server is away.
        """

    async def command(self, *args: str | int) -> Any:
        """Run one command, replies as RESP2 gives them (hashes and streams as flat lists)."""

    async def close(self) -> None:
        """Release connections."""
