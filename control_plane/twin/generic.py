"""Commands on keys of any type, and on the server."""

from __future__ import annotations

from control_plane.errors import ServerError
from control_plane.twin import glob
from control_plane.twin.command import (
    OK,
    Args,
    Command,
    Commands,
    Reply,
    Status,
    all_keys,
    first_two_keys,
    no_keys,
    syntax_error,
)
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import parse_integer


def _ping(space: Keyspace, args: Args) -> Reply:
    return args[0] if args else Status("PONG")


def _time(space: Keyspace, args: Args) -> Reply:
    seconds, micros = divmod(space.now_us, 1_000_000)
    return [str(seconds), str(micros)]


def _type(space: Keyspace, args: Args) -> Reply:
    value = space.find(args[0])
    return Status("none" if value is None else value.kind)


def _exists(space: Keyspace, args: Args) -> Reply:
    return sum(space.find(key) is not None for key in args)


def _del(space: Keyspace, args: Args) -> Reply:
    return sum(space.find(key) is not None and space.delete(key) for key in args)


def _rename(space: Keyspace, args: Args) -> Reply:
    source, target = args
    value, expiry = space.find(source), space.expiry(source)
    if value is None:
        raise ServerError("ERR no such key")
    if source != target:
        space.delete(source)
        space.delete(target)
        space.put(target, value)
        space.expire(target, expiry)
    return OK


def _copy(space: Keyspace, args: Args) -> Reply:
    source, target, *options = args
    flags = [option.upper() for option in options]
    if "DB" in flags:
        raise Unsupported("COPY … DB")
    if any(flag != "REPLACE" for flag in flags):
        raise syntax_error()
    if source == target:
        raise ServerError("ERR source and destination objects are the same")
    value = space.find(source)
    if value is None or (space.find(target) is not None and not flags):
        return 0
    space.delete(target)
    space.put(target, value.copy())
    space.expire(target, space.expiry(source))
    return 1


def _expire_in(space: Keyspace, args: Args, unit_ms: int) -> Reply:
    key, amount, *options = args
    at_ms = space.now_ms + parse_integer(amount) * unit_ms
    if options:
        raise Unsupported(f"EXPIRE … {' '.join(options)}")
    if space.find(key) is None:
        return 0
    space.expire(key, at_ms)
    return 1


def _expire(space: Keyspace, args: Args) -> Reply:
    return _expire_in(space, args, 1000)


def _pexpire(space: Keyspace, args: Args) -> Reply:
    return _expire_in(space, args, 1)


def _persist(space: Keyspace, args: Args) -> Reply:
    if space.find(args[0]) is None or space.expiry(args[0]) is None:
        return 0
    space.expire(args[0], None)
    return 1


def _remaining_ms(space: Keyspace, key: str) -> int:
    if space.find(key) is None:
        return -2
    expiry = space.expiry(key)
    return -1 if expiry is None else max(0, expiry - space.now_ms)


def _ttl(space: Keyspace, args: Args) -> Reply:
    remaining = _remaining_ms(space, args[0])
    return remaining if remaining < 0 else (remaining + 500) // 1000


def _pttl(space: Keyspace, args: Args) -> Reply:
    return _remaining_ms(space, args[0])


def _keys(space: Keyspace, args: Args) -> Reply:
    matches = glob.compiled(args[0]).fullmatch
    return [key for key in space.live_keys() if matches(key)]


def _scan(space: Keyspace, args: Args) -> Reply:
    """All in one answer, as a server may give them too."""
    cursor, *options = args
    if parse_integer(cursor) != 0:
        raise Unsupported(f"SCAN {cursor}")
    named = {name.upper(): value for name, value in zip(*[iter(options)] * 2, strict=True)}
    if named.keys() - {"MATCH", "COUNT"}:
        raise Unsupported(f"SCAN … {' '.join(options)}")
    return ["0", _keys(space, [named.get("MATCH", "*")])]


def _dbsize(space: Keyspace, args: Args) -> Reply:
    return len(list(space.live_keys()))


def _flushall(space: Keyspace, args: Args) -> Reply:
    space.clear()
    return OK


COMMANDS: Commands = {
    "PING": Command(_ping, 0, 1, no_keys),
    "TIME": Command(_time, 0, 0, no_keys),
    "TYPE": Command(_type, 1, 1),
    "EXISTS": Command(_exists, 1, None, all_keys),
    "DEL": Command(_del, 1, None, all_keys),
    "UNLINK": Command(_del, 1, None, all_keys),
    "RENAME": Command(_rename, 2, 2, first_two_keys),
    "COPY": Command(_copy, 2, None, first_two_keys),
    "EXPIRE": Command(_expire, 2, None),
    "PEXPIRE": Command(_pexpire, 2, None),
    "PERSIST": Command(_persist, 1, 1),
    "TTL": Command(_ttl, 1, 1),
    "PTTL": Command(_pttl, 1, 1),
    "KEYS": Command(_keys, 1, 1, no_keys),
    "SCAN": Command(_scan, 1, None, no_keys),
    "DBSIZE": Command(_dbsize, 0, 0, no_keys),
    "FLUSHALL": Command(_flushall, 0, 1, no_keys),
}
