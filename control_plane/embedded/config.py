"""The redis.conf of an embedded server.

A file instead of command-line options, because a password on a command line is public.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from control_plane.embedded.endpoint import Endpoint
from control_plane.embedded.spec import Fsync

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def render_config(
    folder: Path,
    endpoint: Endpoint,
    modules: Iterable[tuple[Path, tuple[str, ...]]],
    fsync: Fsync,
    rewrite_from: str = "64mb",
) -> str:
    """The text of redis.conf for a server whose data is in ``folder``; ``rewrite_from`` as in
    ``ServerSpec``."""
    directives: list[tuple[str, ...]] = [
        ("dir", str(folder)),
        *endpoint.directives(),
        ("daemonize", "no"),
        ("databases", "16"),
        # Every write goes to the append-only file; a snapshot beside it would only cost.
        ("appendonly", "yes"),
        ("appendfsync", fsync),
        ("aof-load-truncated", "yes"),
        ("auto-aof-rewrite-percentage", "100"),
        ("auto-aof-rewrite-min-size", rewrite_from),
        ("save", ""),
        # A lease must never be evicted to make room: rather refuse the write.
        ("maxmemory-policy", "noeviction"),
        *(("loadmodule", str(path), *arguments) for path, arguments in modules),
    ]
    return "".join(f"{_line(directive)}\n" for directive in directives)


def _line(directive: tuple[str, ...]) -> str:
    name, *values = directive
    return " ".join([name, *(_quote(value) for value in values)])


def _quote(value: str) -> str:
    """``value`` between double quotes, in the escapes that Redis reads."""
    return '"' + "".join(_ESCAPES.get(character, character) for character in value) + '"'
