"""XREAD and XREADGROUP, which may wait for entries to come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from control_plane.errors import ServerError
from control_plane.twin.command import Args, Command, Commands, Reply, syntax_error, wrong_arity
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import parse_integer
from control_plane.twin.stream import EntryId, Group, Pending, Stream, parse_id, predecessor
from control_plane.twin.stream_commands import presented
from control_plane.twin.stream_distance import advance
from control_plane.twin.stream_groups import group_of, sorted_pending

_DOLLAR_IN_GROUP = (
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of "
    "this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would "
    "just return an empty result set."
)


class Read(Protocol):
    """A read that can be tried again. ``block_ms`` None: do not wait; 0: wait for ever."""

    keys: Args
    block_ms: int | None

    def attempt(self, space: Keyspace) -> Reply:
        """``[[key, entries], …]``, or None when there is nothing yet."""


@dataclass(slots=True)
class _Options:
    keys: Args = ()
    starts: Args = ()
    block_ms: int | None = None
    count: int | None = None
    no_ack: bool = False


def _options(args: Args, name: str, *, group: bool) -> _Options:
    """COUNT, BLOCK, NOACK and STREAMS. Raises ServerError."""
    options = _Options()
    rest = list(args)
    while rest:
        option = rest.pop(0).upper()
        if option == "STREAMS":
            break
        if option == "NOACK" and group:
            options.no_ack = True
        elif option == "COUNT" and rest:
            options.count = parse_integer(rest.pop(0)) or None
        elif option == "BLOCK" and rest:
            options.block_ms = _timeout(rest.pop(0))
        else:
            raise syntax_error()
    if not rest:
        raise syntax_error()
    if len(rest) % 2:
        marks = " or '>'" if group else ", '+', or '$'"
        raise ServerError(
            f"ERR Unbalanced '{name}' list of streams: for each stream key an ID{marks} "
            "must be specified."
        )
    half = len(rest) // 2
    options.keys, options.starts = rest[:half], rest[half:]
    if options.count is not None and options.count < 0:
        options.count = None
    return options


def _timeout(text: str) -> int:
    block_ms = parse_integer(text, "ERR timeout is not an integer or out of range")
    if block_ms < 0:
        raise ServerError("ERR timeout is negative")
    return block_ms


@dataclass(slots=True)
class _PlainRead:
    """XREAD. What ``$`` and ``+`` mean is settled at the first attempt."""

    options: _Options
    keys: Args
    block_ms: int | None
    _after: dict[str, EntryId] = field(default_factory=dict)

    def attempt(self, space: Keyspace) -> Reply:
        if not self._after:
            for key, start in zip(self.keys, self.options.starts, strict=True):
                self._after[key] = _after(space, key, start)
        replies: list[Reply] = []
        for key in self.keys:
            stream = space.typed(key, Stream)
            ids = stream.ids_after(self._after[key], self.options.count) if stream else []
            if stream is not None and ids:
                replies.append([key, presented(stream, ids)])
        return replies or None


def _after(space: Keyspace, key: str, start: str) -> EntryId:
    if start == ">":
        raise ServerError(
            "ERR The > ID can be specified only when calling XREADGROUP using the GROUP "
            "<group> <consumer> option."
        )
    if start not in ("$", "+"):
        return parse_id(start)
    stream = space.typed(key, Stream)
    if stream is None:
        return 0, 0
    if start == "$" or not len(stream):
        return stream.last_id
    return predecessor(stream.last_id)


@dataclass(slots=True)
class _GroupRead:
    """XREADGROUP. ``>`` delivers new entries, an id repeats the consumer's pending ones."""

    options: _Options
    keys: Args
    block_ms: int | None
    group: str
    consumer: str

    def attempt(self, space: Keyspace) -> Reply:
        more = " in XREADGROUP with GROUP option"
        targets = []
        for key, start in zip(self.keys, self.options.starts, strict=True):
            found = group_of(space, key, self.group, more)
            if start == "$":
                raise ServerError(_DOLLAR_IN_GROUP)
            targets.append((key, *found, None if start == ">" else parse_id(start)))
        replies: list[Reply] = []
        for key, stream, group, after in targets:
            group.consumer(self.consumer, space.now_ms)
            if after is not None:
                replies.append([key, self._again(space, stream, group, after)])
            elif ids := stream.ids_after(group.last_id, self.options.count):
                self._deliver(space, stream, group, ids)
                replies.append([key, presented(stream, ids)])
        return replies or None

    def _deliver(self, space: Keyspace, stream: Stream, group: Group, ids: list[EntryId]) -> None:
        group.consumers[self.consumer].active_ms = space.now_ms
        for entry_id in ids:
            advance(stream, group, entry_id)
            if not self.options.no_ack:
                group.pending[entry_id] = Pending(self.consumer, space.now_ms, 1)

    def _again(self, space: Keyspace, stream: Stream, group: Group, after: EntryId) -> list[Reply]:
        mine = [
            (entry_id, item)
            for entry_id, item in sorted_pending(group)
            if item.consumer == self.consumer and entry_id > after
        ][: self.options.count]
        for entry_id, item in mine:
            if stream.get(entry_id) is not None:
                item.delivered_ms = space.now_ms
                item.deliveries += 1
        return presented(stream, [entry_id for entry_id, _ in mine])


def _plain_read(args: Args) -> Read:
    if len(args) < 3:
        raise wrong_arity("xread")
    options = _options(args, "xread", group=False)
    return _PlainRead(options, options.keys, options.block_ms)


def _group_read(args: Args) -> Read:
    if len(args) < 6:
        raise wrong_arity("xreadgroup")
    if args[0].upper() != "GROUP":
        raise syntax_error()
    options = _options(args[3:], "xreadgroup", group=True)
    return _GroupRead(options, options.keys, options.block_ms, args[1], args[2])


READS: Mapping[str, Callable[[Args], Read]] = {"XREAD": _plain_read, "XREADGROUP": _group_read}
"""Parsers of reads by command; they raise ServerError."""


def _read_keys(args: Args) -> Args:
    upper = [arg.upper() for arg in args]
    rest = args[upper.index("STREAMS") + 1 :] if "STREAMS" in upper else []
    return rest[: len(rest) // 2]


def _xread(space: Keyspace, args: Args) -> Reply:
    """In a script nothing waits."""
    return _plain_read(args).attempt(space)


def _xreadgroup(space: Keyspace, args: Args) -> Reply:
    return _group_read(args).attempt(space)


COMMANDS: Commands = {
    "XREAD": Command(_xread, 3, None, _read_keys),
    "XREADGROUP": Command(_xreadgroup, 6, None, _read_keys),
}
