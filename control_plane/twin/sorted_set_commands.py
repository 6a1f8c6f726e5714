"""The commands on sorted sets."""

from __future__ import annotations

from collections.abc import Iterable

from control_plane.errors import ServerError
from control_plane.twin.command import Args, Command, Commands, Reply, syntax_error
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import format_float, parse_float, parse_integer
from control_plane.twin.sorted_set import Bound, Scored, SortedSet, checked_score

_ADD_FLAGS = frozenset({"NX", "XX", "GT", "LT", "CH", "INCR"})


def _writable(space: Keyspace, key: str) -> SortedSet:
    found = space.typed(key, SortedSet)
    if found is None:
        found = SortedSet()
        space.put(key, found)
    return found


def _check_flags(flags: set[str], pairs: int) -> None:
    if {"NX", "XX"} <= flags:
        raise ServerError("ERR XX and NX options at the same time are not compatible")
    if len(flags & {"NX", "GT", "LT"}) > 1:
        raise ServerError("ERR GT, LT, and/or NX options at the same time are not compatible")
    if "INCR" in flags and pairs != 1:
        raise ServerError("ERR INCR option supports a single increment-element pair")


def _allowed(flags: set[str], before: float | None, score: float) -> bool:
    if before is None:
        return "XX" not in flags
    if "NX" in flags or ("GT" in flags and score <= before):
        return False
    return not ("LT" in flags and score >= before)


def _zadd(space: Keyspace, args: Args) -> Reply:
    key, *rest = args
    flags: set[str] = set()
    while rest and rest[0].upper() in _ADD_FLAGS:
        flags.add(rest.pop(0).upper())
    if not rest or len(rest) % 2:
        raise syntax_error()
    _check_flags(flags, len(rest) // 2)
    if "INCR" in flags:
        raise Unsupported("ZADD … INCR")
    pairs = [(parse_float(score), member) for score, member in zip(*[iter(rest)] * 2, strict=True)]
    if space.typed(key, SortedSet) is None and "XX" in flags:
        return 0
    found = _writable(space, key)
    added = changed = 0
    for raw, member in pairs:
        score, before = checked_score(raw), found.scores.get(member)
        if not _allowed(flags, before, score):
            continue
        found.set(member, score)
        added += before is None
        changed += before is not None and before != score
    return added + changed if "CH" in flags else added


def _zincrby(space: Keyspace, args: Args) -> Reply:
    key, amount, member = args
    step = parse_float(amount)
    found = space.typed(key, SortedSet)
    before = 0.0 if found is None else found.scores.get(member, 0.0)
    score = checked_score(before + step)
    _writable(space, key).set(member, score)
    return format_float(score)


def _zrem(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], SortedSet)
    if found is None:
        return 0
    removed = sum(map(found.remove, args[1:]))
    space.delete_if_empty(args[0], found)
    return removed


def _zscore(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], SortedSet)
    score = None if found is None else found.scores.get(args[1])
    return None if score is None else format_float(score)


def _zmscore(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], SortedSet)
    scores = [None if found is None else found.scores.get(member) for member in args[1:]]
    return [None if score is None else format_float(score) for score in scores]


def _zcard(space: Keyspace, args: Args) -> Reply:
    return len(space.typed(args[0], SortedSet) or ())


def _zcount(space: Keyspace, args: Args) -> Reply:
    low, high = Bound.parse(args[1]), Bound.parse(args[2])
    found = space.typed(args[0], SortedSet)
    return 0 if found is None else len(found.between(low, high))


def _zpopmin(space: Keyspace, args: Args) -> Reply:
    positive = "ERR value is out of range, must be positive"
    count = parse_integer(args[1], positive) if len(args) > 1 else 1
    if count < 0:
        raise ServerError(positive)
    found = space.typed(args[0], SortedSet)
    if found is None or count == 0:
        return []
    popped = found.by_rank(0, count - 1)
    for _, member in popped:
        found.remove(member)
    space.delete_if_empty(args[0], found)
    return _presented(popped, True)


def _presented(entries: Iterable[Scored], with_scores: bool) -> Reply:
    if not with_scores:
        return [member for _, member in entries]
    return [text for score, member in entries for text in (member, format_float(score))]


class _RangeOptions:
    """BYSCORE, REV, WITHSCORES and LIMIT after a range."""

    def __init__(self, options: Args, *, allowed: frozenset[str]) -> None:
        self.flags: set[str] = set()
        self.limit: tuple[int, int] | None = None
        rest = iter(options)
        for option in map(str.upper, rest):
            if option == "LIMIT":
                offset, count = next(rest, None), next(rest, None)
                if offset is None or count is None:
                    raise syntax_error()
                self.limit = parse_integer(offset), parse_integer(count)
            elif option in allowed:
                self.flags.add(option)
            elif option in ("BYLEX", "REV"):
                raise Unsupported(f"ZRANGE … {option}")
            else:
                raise syntax_error()

    def limited(self, entries: list[Scored]) -> list[Scored]:
        """``entries`` cut by LIMIT; a negative count means all the rest."""
        if self.limit is None:
            return entries
        offset, count = self.limit
        if offset < 0:
            return []
        return entries[offset:] if count < 0 else entries[offset : offset + count]


_ZRANGE_FLAGS = frozenset({"BYSCORE", "REV", "WITHSCORES"})


def _zrange(space: Keyspace, args: Args) -> Reply:
    key, start, stop, *rest = args
    options = _RangeOptions(rest, allowed=_ZRANGE_FLAGS)
    if options.limit is not None and "BYSCORE" not in options.flags:
        raise ServerError(
            "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
        )
    reverse = "REV" in options.flags
    if "BYSCORE" in options.flags:
        low, high = (stop, start) if reverse else (start, stop)
        return _by_score(space, key, low, high, options)
    first, last = parse_integer(start), parse_integer(stop)
    found = space.typed(key, SortedSet)
    if found is None:
        return []
    # Rank r from the end is rank -1-r from the start.
    entries = found.by_rank(-1 - last, -1 - first)[::-1] if reverse else found.by_rank(first, last)
    return _presented(entries, "WITHSCORES" in options.flags)


def _by_score(space: Keyspace, key: str, low: str, high: str, options: _RangeOptions) -> Reply:
    bounds = Bound.parse(low), Bound.parse(high)
    found = space.typed(key, SortedSet)
    entries = [] if found is None else found.between(*bounds)
    if "REV" in options.flags:
        entries.reverse()
    return _presented(options.limited(entries), "WITHSCORES" in options.flags)


def _zrangebyscore(space: Keyspace, args: Args) -> Reply:
    key, low, high, *rest = args
    options = _RangeOptions(rest, allowed=frozenset({"WITHSCORES"}))
    return _by_score(space, key, low, high, options)


COMMANDS: Commands = {
    "ZADD": Command(_zadd, 3, None),
    "ZINCRBY": Command(_zincrby, 3, 3),
    "ZREM": Command(_zrem, 2, None),
    "ZSCORE": Command(_zscore, 2, 2),
    "ZMSCORE": Command(_zmscore, 2, None),
    "ZCARD": Command(_zcard, 1, 1),
    "ZCOUNT": Command(_zcount, 3, 3),
    "ZPOPMIN": Command(_zpopmin, 1, 2),
    "ZRANGE": Command(_zrange, 3, None),
    "ZRANGEBYSCORE": Command(_zrangebyscore, 3, None),
}
