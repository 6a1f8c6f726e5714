"""What makes one embedded server differ from another: its folder and its modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from control_plane.embedded.binaries import FALKORDB, REJSON, Binary

Fsync = Literal["everysec", "always"]
"""When a commit is forced to the disk: within a second, or before it is acknowledged.

With ``everysec`` Redis does not even hand writes to the kernel while an fsync is running (for at
most two seconds), so that a SIGKILL at that moment loses acknowledged writes, too. ``WAITAOF 1 0``
waits until what a connection has written is on the disk, under either setting.
"""


@dataclass(frozen=True, slots=True)
class Module:
    """A Redis module and the arguments it is loaded with."""

    binary: Binary
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server to run: ``folder`` below the data home, ``title`` for messages. One that
    ``loads_alone`` cannot be reached before it has read its data. From ``rewrite_from`` on (a size
    as in redis.conf) the append-only file is rewritten whenever it has doubled."""

    folder: str
    title: str
    modules: tuple[Module, ...]
    loads_alone: bool = False
    rewrite_from: str = "64mb"


CONTROL_PLANE = ServerSpec("redis", "control plane", (Module(REJSON),))

# Its own process, because a Cypher query can end it, and leases must not end with it. The module
# itself has no default time limit for queries (milliseconds).
GRAPH = ServerSpec(
    "graph",
    "graph",
    (Module(FALKORDB, ("TIMEOUT_DEFAULT", "5000", "TIMEOUT_MAX", "30000")),),
    loads_alone=True,
    rewrite_from="1mb",
)
