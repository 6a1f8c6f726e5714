"""XINFO."""

from __future__ import annotations

from control_plane.errors import ServerError
from control_plane.twin.command import Args, Command, Commands, Reply, wrong_arity
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.stream import Group, Stream, print_id
from control_plane.twin.stream_commands import presented
from control_plane.twin.stream_distance import lag
from control_plane.twin.stream_groups import subject_group


def _info_keys(args: Args) -> Args:
    return args[1:2]


def _xinfo(space: Keyspace, args: Args) -> Reply:
    subcommand, *rest = args
    name = subcommand.upper()
    if name == "HELP" or (name == "STREAM" and len(rest) > 1):
        raise Unsupported(f"XINFO {' '.join(args)}")
    if name not in ("STREAM", "GROUPS", "CONSUMERS"):
        raise ServerError(f"ERR unknown subcommand '{subcommand}'. Try XINFO HELP.")
    if len(rest) != (2 if name == "CONSUMERS" else 1):
        raise wrong_arity(f"xinfo|{name}")
    stream = space.typed(rest[0], Stream)
    if stream is None:
        raise ServerError("ERR no such key")
    if name == "CONSUMERS":
        return _consumers(subject_group(stream, *rest), space.now_ms)
    return _stream(stream) if name == "STREAM" else _groups(stream)


def _stream(stream: Stream) -> Reply:
    entries = presented(stream, stream.ids_after((0, 0), None))
    # The radix tree is the server's business; its numbers are those of a small stream.
    return [
        *("length", len(stream)),
        *("radix-tree-keys", int(bool(entries))),
        *("radix-tree-nodes", 1 + bool(entries)),
        *("last-generated-id", print_id(stream.last_id)),
        *("max-deleted-entry-id", print_id(stream.max_deleted_id)),
        *("entries-added", stream.added),
        *("recorded-first-entry-id", print_id(stream.first_id)),
        *("groups", len(stream.groups)),
        *("first-entry", entries[0] if entries else None),
        *("last-entry", entries[-1] if entries else None),
    ]


def _groups(stream: Stream) -> Reply:
    return [
        [
            *("name", name),
            *("consumers", len(group.consumers)),
            *("pending", len(group.pending)),
            *("last-delivered-id", print_id(group.last_id)),
            *("entries-read", group.entries_read),
            *("lag", lag(stream, group)),
        ]
        for name, group in sorted(stream.groups.items())
    ]


def _consumers(group: Group, now_ms: int) -> Reply:
    return [
        [
            *("name", name),
            *("pending", sum(item.consumer == name for item in group.pending.values())),
            *("idle", now_ms - found.seen_ms),
            *("inactive", -1 if found.active_ms is None else now_ms - found.active_ms),
        ]
        for name, found in sorted(group.consumers.items())
    ]


COMMANDS: Commands = {"XINFO": Command(_xinfo, 1, None, _info_keys)}
