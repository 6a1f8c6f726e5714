"""The commands on a stream's entries."""

from __future__ import annotations

from collections.abc import Iterable

from control_plane.errors import ServerError
from control_plane.twin.command import Args, Command, Commands, Reply, syntax_error, wrong_arity
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import U64_MAX, parse_integer
from control_plane.twin.stream import (
    HIGHEST,
    LOWEST,
    EntryId,
    Fields,
    Stream,
    parse_id,
    predecessor,
    print_id,
    successor,
)

# A server drops whole nodes of this many entries when trimming with `~`.
_NODE_ENTRIES = 100


def presented(stream: Stream, ids: Iterable[EntryId]) -> list[Reply]:
    """Entries as ``[id, [name, text, …]]``; a deleted entry has None for its fields."""
    replies: list[Reply] = []
    for entry_id in ids:
        fields = stream.get(entry_id)
        replies.append([print_id(entry_id), None if fields is None else list(fields)])
    return replies


def _trim_options(rest: list[str]) -> tuple[int, bool]:
    """Take ``MAXLEN [=|~] n`` off ``rest``; the length and whether it is only approximate."""
    rest.pop(0)
    approximate = bool(rest) and rest[0] == "~"
    if rest and rest[0] in ("=", "~"):
        rest.pop(0)
    if not rest:
        raise syntax_error()
    length = parse_integer(rest.pop(0))
    if length < 0:
        raise ServerError("ERR The MAXLEN argument must be >= 0.")
    return length, approximate


def _trim(stream: Stream, length: int, approximate: bool) -> int:
    """With ``~`` only whole nodes go. A server also ends a node after 4 KiB, so that it may keep
    fewer entries than this."""
    excess = len(stream) - length
    if approximate and length and excess > 0:
        length += excess % _NODE_ENTRIES
    return stream.trim(length)


def _next_id(space: Keyspace, stream: Stream, text: str) -> EntryId:
    last = stream.last_id
    if text != "*" and not text.endswith("-*"):
        entry_id = parse_id(text)
        if entry_id > last:
            return entry_id
        raise _too_small(last)
    if last == HIGHEST:
        raise _too_small(last)
    milliseconds = space.now_ms if text == "*" else parse_id(text[:-2])[0]
    if milliseconds > last[0]:
        return milliseconds, 0
    if text != "*" and (milliseconds < last[0] or last[1] == U64_MAX):
        raise _too_small(last)
    return successor(last)


def _too_small(last: EntryId) -> ServerError:
    if last == HIGHEST:
        return ServerError(
            "ERR The stream has exhausted the last possible ID, unable to add more items"
        )
    return ServerError(
        "ERR The ID specified in XADD is equal or smaller than the target stream top item"
    )


def _xadd(space: Keyspace, args: Args) -> Reply:
    key, *rest = args
    make, limit = True, None
    while rest:
        option = rest[0].upper()
        if option == "NOMKSTREAM":
            make = False
            rest.pop(0)
        elif option == "MAXLEN":
            limit = _trim_options(rest)
        elif option in ("MINID", "LIMIT", "KEEPREF", "DELREF", "ACKED"):
            raise Unsupported(f"XADD … {option}")
        else:
            break
    if len(rest) < 3 or len(rest) % 2 == 0:
        raise wrong_arity("xadd")
    entry_text, *fields = rest
    if entry_text.endswith("-*"):
        parse_id(entry_text[:-2])
    elif entry_text != "*" and parse_id(entry_text) == LOWEST:
        raise ServerError("ERR The ID specified in XADD must be greater than 0-0")
    stream = space.typed(key, Stream)
    if stream is None and not make:
        return None
    if stream is None:
        stream = Stream()
    return _appended(space, key, stream, entry_text, tuple(fields), limit)


def _appended(
    space: Keyspace,
    key: str,
    stream: Stream,
    entry_text: str,
    fields: Fields,
    limit: tuple[int, bool] | None,
) -> str:
    entry_id = _next_id(space, stream, entry_text)
    space.put(key, stream)
    stream.append(entry_id, fields)
    if limit is not None:
        _trim(stream, *limit)
    space.wake(key)
    return print_id(entry_id)


def _xlen(space: Keyspace, args: Args) -> Reply:
    return len(space.typed(args[0], Stream) or ())


def low_end(text: str) -> EntryId:
    """The start of a range: ``-``, ``5``, ``5-3``, ``(5-3``. Raises ServerError."""
    if text in ("-", "+"):
        return LOWEST if text == "-" else HIGHEST
    if not text.startswith("("):
        return parse_id(text)
    entry_id = parse_id(text[1:])
    if entry_id == HIGHEST:
        raise ServerError("ERR invalid start ID for the interval")
    return successor(entry_id)


def high_end(text: str) -> EntryId:
    """The end of a range: ``+``, ``5`` (the whole millisecond), ``5-3``, ``(5-3``."""
    if text in ("-", "+"):
        return LOWEST if text == "-" else HIGHEST
    if not text.startswith("("):
        return parse_id(text, U64_MAX)
    entry_id = parse_id(text[1:], U64_MAX)
    if entry_id == LOWEST:
        raise ServerError("ERR invalid end ID for the interval")
    return predecessor(entry_id)


def _range(space: Keyspace, key: str, low: str, high: str, rest: Args, step: int) -> Reply:
    first, last = low_end(low), high_end(high)
    count: int | None = None
    if rest:
        if len(rest) != 2 or rest[0].upper() != "COUNT":
            raise syntax_error()
        count = max(0, parse_integer(rest[1]))
    stream = space.typed(key, Stream)
    if stream is None:
        return []
    if count == 0:
        return None
    return presented(stream, stream.ids_between(first, last)[::step][:count])


def _xrange(space: Keyspace, args: Args) -> Reply:
    key, low, high, *rest = args
    return _range(space, key, low, high, rest, 1)


def _xrevrange(space: Keyspace, args: Args) -> Reply:
    key, high, low, *rest = args
    return _range(space, key, low, high, rest, -1)


def _xdel(space: Keyspace, args: Args) -> Reply:
    ids = [parse_id(text) for text in args[1:]]
    stream = space.typed(args[0], Stream)
    return 0 if stream is None else sum(map(stream.delete, ids))


def _xtrim(space: Keyspace, args: Args) -> Reply:
    key, *rest = args
    if rest[0].upper() != "MAXLEN":
        raise Unsupported(f"XTRIM {rest[0]}")
    limit = _trim_options(rest)
    if rest:
        raise Unsupported(f"XTRIM … {rest[0]}")
    stream = space.typed(key, Stream)
    return 0 if stream is None else _trim(stream, *limit)


COMMANDS: Commands = {
    "XADD": Command(_xadd, 4, None),
    "XLEN": Command(_xlen, 1, 1),
    "XRANGE": Command(_xrange, 3, None),
    "XREVRANGE": Command(_xrevrange, 3, None),
    "XDEL": Command(_xdel, 2, None),
    "XTRIM": Command(_xtrim, 2, None),
}
