"""Sets and the commands on them."""

from __future__ import annotations

from control_plane.errors import ServerError
from control_plane.twin import glob
from control_plane.twin.command import Args, Command, Commands, Reply, syntax_error
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import parse_integer


class Members(dict[str, None]):
    """A set value, in order of insertion so that one seed gives one history."""

    kind = "set"

    def copy(self) -> Members:
        """A copy."""
        return Members(self)

    def plain(self) -> list[str]:
        """The members, sorted."""
        return sorted(self)


def _sadd(space: Keyspace, args: Args) -> Reply:
    members = space.typed(args[0], Members)
    if members is None:
        members = Members()
        space.put(args[0], members)
    before = len(members)
    members.update(dict.fromkeys(args[1:]))
    return len(members) - before


def _srem(space: Keyspace, args: Args) -> Reply:
    members = space.typed(args[0], Members)
    if members is None:
        return 0
    before = len(members)
    for member in args[1:]:
        members.pop(member, None)
    space.delete_if_empty(args[0], members)
    return before - len(members)


def _scard(space: Keyspace, args: Args) -> Reply:
    return len(space.typed(args[0], Members) or ())


def _smembers(space: Keyspace, args: Args) -> Reply:
    return list(space.typed(args[0], Members) or ())


def _sismember(space: Keyspace, args: Args) -> Reply:
    return int(args[1] in (space.typed(args[0], Members) or ()))


def _sscan(space: Keyspace, args: Args) -> Reply:
    """Everything at once: a server does the same with a small set."""
    key, cursor, *options = args
    if not cursor.isdecimal():
        raise ServerError("ERR invalid cursor")
    pattern = "*"
    for name, text in zip(options[::2], options[1::2], strict=False):
        if name.upper() == "MATCH":
            pattern = text
        elif name.upper() == "COUNT":
            if parse_integer(text) < 1:
                raise syntax_error()
        else:
            raise syntax_error()
    if len(options) % 2:
        raise syntax_error()
    matches = glob.compiled(pattern).fullmatch
    return ["0", [member for member in space.typed(key, Members) or () if matches(member)]]


COMMANDS: Commands = {
    "SADD": Command(_sadd, 2, None),
    "SREM": Command(_srem, 2, None),
    "SCARD": Command(_scard, 1, 1),
    "SMEMBERS": Command(_smembers, 1, 1),
    "SISMEMBER": Command(_sismember, 2, 2),
    "SSCAN": Command(_sscan, 2, None),
}
