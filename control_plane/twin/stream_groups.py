"""Consumer groups: creation, acknowledgement, what is pending."""

from __future__ import annotations

from collections import Counter

from control_plane.errors import ServerError
from control_plane.twin.command import OK, Args, Command, Commands, Reply, syntax_error, wrong_arity
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import parse_integer
from control_plane.twin.stream import EntryId, Group, Pending, Stream, parse_id, print_id
from control_plane.twin.stream_commands import high_end, low_end

_NO_STREAM = (
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use "
    "the MKSTREAM option to create an empty stream automatically."
)


def group_of(space: Keyspace, key: str, name: str, more: str = "") -> tuple[Stream, Group]:
    """The group ``name`` of the stream ``key``. Raises ServerError (NOGROUP)."""
    stream = space.typed(key, Stream)
    group = None if stream is None else stream.groups.get(name)
    if stream is None or group is None:
        raise ServerError(f"NOGROUP No such key '{key}' or consumer group '{name}'{more}")
    return stream, group


def subject_group(stream: Stream, key: str, name: str) -> Group:
    """The group that a command about groups names. Raises ServerError (NOGROUP)."""
    group = stream.groups.get(name)
    if group is None:
        raise ServerError(f"NOGROUP No such consumer group '{name}' for key name '{key}'")
    return group


def _group_keys(args: Args) -> Args:
    return args[1:2]


def _xgroup(space: Keyspace, args: Args) -> Reply:
    subcommand, *rest = args
    if subcommand.upper() == "CREATE":
        return _create(space, rest)
    if subcommand.upper() == "DESTROY":
        return _destroy(space, rest)
    if subcommand.upper() == "DELCONSUMER":
        return _delete_consumer(space, rest)
    if subcommand.upper() in ("SETID", "CREATECONSUMER", "HELP"):
        raise Unsupported(f"XGROUP {subcommand}")
    raise ServerError(f"ERR unknown subcommand '{subcommand}'. Try XGROUP HELP.")


def _create(space: Keyspace, args: Args) -> Reply:
    if len(args) < 3:
        raise wrong_arity("xgroup|create")
    key, name, start, *options = args
    flags = [option.upper() for option in options]
    if "ENTRIESREAD" in flags:
        raise Unsupported("XGROUP CREATE … ENTRIESREAD")
    if any(flag != "MKSTREAM" for flag in flags):
        raise syntax_error()
    stream = space.typed(key, Stream)
    if stream is None and not flags:
        raise ServerError(_NO_STREAM)
    first_id = None if start == "$" else parse_id(start)
    if stream is None:
        stream = Stream()
        space.put(key, stream)
    if name in stream.groups:
        raise ServerError("BUSYGROUP Consumer Group name already exists")
    stream.groups[name] = Group(stream.last_id if first_id is None else first_id)
    return OK


def _destroy(space: Keyspace, args: Args) -> Reply:
    if len(args) != 2:
        raise wrong_arity("xgroup|destroy")
    key, name = args
    stream = space.typed(key, Stream)
    if stream is None:
        raise ServerError(_NO_STREAM)
    space.wake(key)
    return int(stream.groups.pop(name, None) is not None)


def _delete_consumer(space: Keyspace, args: Args) -> Reply:
    if len(args) != 3:
        raise wrong_arity("xgroup|delconsumer")
    key, name, consumer = args
    stream = space.typed(key, Stream)
    if stream is None:
        raise ServerError(_NO_STREAM)
    group = subject_group(stream, key, name)
    mine = [entry_id for entry_id, item in group.pending.items() if item.consumer == consumer]
    for entry_id in mine:
        del group.pending[entry_id]
    group.consumers.pop(consumer, None)
    return len(mine)


def _xack(space: Keyspace, args: Args) -> Reply:
    key, name, *texts = args
    stream = space.typed(key, Stream)
    if stream is None or name not in stream.groups:
        return 0
    pending = stream.groups[name].pending
    ids = [parse_id(text) for text in texts]
    return sum(pending.pop(entry_id, None) is not None for entry_id in ids)


def _xpending(space: Keyspace, args: Args) -> Reply:
    key, name, *rest = args
    if not rest:
        return _summary(group_of(space, key, name)[1])
    idle_ms = 0
    if rest[0].upper() == "IDLE" and len(rest) > 1:
        idle_ms = parse_integer(rest[1])
        rest = rest[2:]
    if len(rest) not in (3, 4):
        raise syntax_error()
    count = parse_integer(rest[2])
    first, last = low_end(rest[0]), high_end(rest[1])
    group = group_of(space, key, name)[1]
    consumer = rest[3] if len(rest) == 4 else None

    def wanted(entry_id: EntryId, item: Pending) -> bool:
        return (
            first <= entry_id <= last
            and consumer in (None, item.consumer)
            and space.now_ms - item.delivered_ms >= idle_ms
        )

    items = [(entry_id, item) for entry_id, item in sorted_pending(group) if wanted(entry_id, item)]
    return [
        [print_id(entry_id), item.consumer, space.now_ms - item.delivered_ms, item.deliveries]
        for entry_id, item in items[: max(0, count)]
    ]


def sorted_pending(group: Group) -> list[tuple[EntryId, Pending]]:
    """Pending entries by id."""
    return sorted(group.pending.items(), key=lambda pair: pair[0])


def _summary(group: Group) -> Reply:
    if not group.pending:
        return [0, None, None, None]
    holders = Counter(item.consumer for item in group.pending.values())
    counts: list[Reply] = [[name, str(holders[name])] for name in sorted(holders)]
    ends = min(group.pending), max(group.pending)
    return [len(group.pending), *map(print_id, ends), counts]


COMMANDS: Commands = {
    "XGROUP": Command(_xgroup, 1, None, _group_keys),
    "XACK": Command(_xack, 3, None),
    "XPENDING": Command(_xpending, 2, None),
}
