"""Taking over entries that are pending for another consumer."""

from __future__ import annotations

from dataclasses import dataclass

from control_plane.errors import ServerError
from control_plane.twin.command import Args, Command, Commands, Reply, syntax_error
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import parse_integer
from control_plane.twin.stream import EntryId, Pending, parse_id, print_id
from control_plane.twin.stream_commands import low_end, presented
from control_plane.twin.stream_groups import group_of, sorted_pending

_AUTOCLAIM_COUNT = 100
# XAUTOCLAIM looks at this many pending entries for each that it may return.
_LOOKS_PER_CLAIM = 10


def _min_idle(text: str, command: str) -> int:
    return max(0, parse_integer(text, f"ERR Invalid min-idle-time argument for {command}"))


@dataclass(slots=True)
class _ClaimOptions:
    delivered_ms: int
    deliveries: int | None = None
    force: bool = False
    just_id: bool = False

    def read(self, options: Args, now_ms: int) -> None:
        """IDLE, TIME, RETRYCOUNT, FORCE and JUSTID."""
        rest = iter(options)
        for given in rest:
            option = given.upper()
            if option in ("FORCE", "JUSTID"):
                self.force |= option == "FORCE"
                self.just_id |= option == "JUSTID"
                continue
            amount = next(rest, None)
            if option == "LASTID":
                raise Unsupported("XCLAIM … LASTID")
            if option not in ("IDLE", "TIME", "RETRYCOUNT") or amount is None:
                raise ServerError(f"ERR Unrecognized XCLAIM option '{given}'")
            number = parse_integer(amount, f"ERR Invalid {option} option argument for XCLAIM")
            if option == "RETRYCOUNT":
                self.deliveries = number
            else:
                self.delivered_ms = min(now_ms, now_ms - number if option == "IDLE" else number)


def _xclaim(space: Keyspace, args: Args) -> Reply:
    key, name, consumer, idle_text, *rest = args
    stream, group = group_of(space, key, name)
    min_idle_ms = _min_idle(idle_text, "XCLAIM")
    ids: list[EntryId] = []
    while rest and rest[0][:1].isdigit():
        ids.append(parse_id(rest.pop(0)))
    options = _ClaimOptions(space.now_ms)
    options.read(rest, space.now_ms)
    asks = group.consumer(consumer, space.now_ms)
    claimed = []
    for entry_id in ids:
        item = group.pending.get(entry_id)
        if stream.get(entry_id) is None:
            group.pending.pop(entry_id, None)
            continue
        if item is None:
            if not options.force:
                continue
            item = group.pending[entry_id] = Pending(consumer, 0, 0)
        elif space.now_ms - item.delivered_ms < min_idle_ms:
            continue
        item.consumer, item.delivered_ms = consumer, options.delivered_ms
        if options.deliveries is not None:
            item.deliveries = options.deliveries
        elif not options.just_id:
            item.deliveries += 1
        claimed.append(entry_id)
    if claimed:
        asks.active_ms = space.now_ms
    return [*map(print_id, claimed)] if options.just_id else presented(stream, claimed)


def _autoclaim_options(options: Args) -> tuple[int, bool]:
    count, just_id = _AUTOCLAIM_COUNT, False
    rest = iter(options)
    for option in map(str.upper, rest):
        amount = next(rest, None) if option == "COUNT" else None
        if option == "JUSTID":
            just_id = True
        elif amount is not None:
            count = parse_integer(amount, "ERR COUNT must be > 0")
            if count < 1:
                raise ServerError("ERR COUNT must be > 0")
        else:
            raise syntax_error()
    return count, just_id


def _xautoclaim(space: Keyspace, args: Args) -> Reply:
    key, name, consumer, idle_text, start, *rest = args
    min_idle_ms = _min_idle(idle_text, "XAUTOCLAIM")
    first = low_end(start)
    count, just_id = _autoclaim_options(rest)
    stream, group = group_of(space, key, name)
    asks = group.consumer(consumer, space.now_ms)
    waiting = [pair for pair in sorted_pending(group) if pair[0] >= first]
    claimed: list[EntryId] = []
    deleted: list[EntryId] = []
    looked = 0
    for entry_id, item in waiting[: count * _LOOKS_PER_CLAIM]:
        if len(claimed) + len(deleted) == count:
            break
        looked += 1
        if stream.get(entry_id) is None:
            del group.pending[entry_id]
            deleted.append(entry_id)
        elif space.now_ms - item.delivered_ms >= min_idle_ms:
            item.consumer, item.delivered_ms = consumer, space.now_ms
            item.deliveries += not just_id
            claimed.append(entry_id)
    if claimed:
        asks.active_ms = space.now_ms
    cursor = print_id(waiting[looked][0]) if looked < len(waiting) else "0-0"
    entries: Reply = [*map(print_id, claimed)] if just_id else presented(stream, claimed)
    return [cursor, entries, [*map(print_id, deleted)]]


COMMANDS: Commands = {
    "XCLAIM": Command(_xclaim, 5, None),
    "XAUTOCLAIM": Command(_xautoclaim, 5, None),
}
