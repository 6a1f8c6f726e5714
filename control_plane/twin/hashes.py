"""Hashes and the commands on them."""

from __future__ import annotations

from control_plane.errors import ServerError
from control_plane.twin.command import Args, Command, Commands, Reply, wrong_arity
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import I64_MAX, I64_MIN, parse_integer


class Hash(dict[str, str]):
    """A hash value."""

    kind = "hash"

    def copy(self) -> Hash:
        """A copy."""
        return Hash(self)

    def plain(self) -> dict[str, str]:
        """Field to value."""
        return dict(self)


def _writable(space: Keyspace, key: str) -> Hash:
    found = space.typed(key, Hash)
    if found is None:
        found = Hash()
        space.put(key, found)
    return found


def _hget(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], Hash)
    return None if found is None else found.get(args[1])


def _hset(space: Keyspace, args: Args) -> Reply:
    if len(args) % 2 == 0:
        raise wrong_arity("hset")
    found = _writable(space, args[0])
    before = len(found)
    found.update(zip(args[1::2], args[2::2], strict=True))
    return len(found) - before


def _hmget(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], Hash) or Hash()
    return [found.get(field) for field in args[1:]]


def _hgetall(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], Hash) or Hash()
    return [text for pair in found.items() for text in pair]


def _hdel(space: Keyspace, args: Args) -> Reply:
    found = space.typed(args[0], Hash)
    if found is None:
        return 0
    removed = sum(found.pop(field, None) is not None for field in args[1:])
    space.delete_if_empty(args[0], found)
    return removed


def _hincrby(space: Keyspace, args: Args) -> Reply:
    key, field, amount = args
    step = parse_integer(amount)
    found = space.typed(key, Hash) or Hash()
    number = parse_integer(found.get(field, "0"), "ERR hash value is not an integer") + step
    if not I64_MIN <= number <= I64_MAX:
        raise ServerError("ERR increment or decrement would overflow")
    _writable(space, key)[field] = str(number)
    return number


def _hlen(space: Keyspace, args: Args) -> Reply:
    return len(space.typed(args[0], Hash) or ())


def _hexists(space: Keyspace, args: Args) -> Reply:
    return int(args[1] in (space.typed(args[0], Hash) or ()))


COMMANDS: Commands = {
    "HGET": Command(_hget, 2, 2),
    "HSET": Command(_hset, 3, None),
    "HMGET": Command(_hmget, 2, None),
    "HGETALL": Command(_hgetall, 1, 1),
    "HDEL": Command(_hdel, 2, None),
    "HINCRBY": Command(_hincrby, 3, 3),
    "HLEN": Command(_hlen, 1, 1),
    "HEXISTS": Command(_hexists, 2, 2),
}
