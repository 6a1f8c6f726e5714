"""Strings and the commands on them."""

from __future__ import annotations

from control_plane.errors import ServerError
from control_plane.twin.command import OK, Args, Command, Commands, Reply, syntax_error
from control_plane.twin.defects import Unsupported
from control_plane.twin.keyspace import Keyspace
from control_plane.twin.numbers import I64_MAX, I64_MIN, parse_integer


class Text:
    """A string value."""

    kind = "string"
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def copy(self) -> Text:
        """Itself: never changed in place."""
        return self

    def plain(self) -> str:
        """The string."""
        return self.text


def _get(space: Keyspace, args: Args) -> Reply:
    value = space.typed(args[0], Text)
    return None if value is None else value.text


_UNITS_MS = {"EX": 1000, "PX": 1}


def _set(space: Keyspace, args: Args) -> Reply:
    key, text, *options = args
    flags: set[str] = set()
    lifetime: int | None = None
    rest = iter(options)
    for option in map(str.upper, rest):
        if option in ("NX", "XX", "KEEPTTL"):
            flags.add(option)
        elif option in _UNITS_MS and lifetime is None:
            amount = next(rest, None)
            if amount is None:
                raise syntax_error()
            lifetime = parse_integer(amount) * _UNITS_MS[option]
        elif option in ("GET", "EXAT", "PXAT"):
            raise Unsupported(f"SET … {option}")
        else:
            raise syntax_error()
    if {"NX", "XX"} <= flags or (lifetime is not None and "KEEPTTL" in flags):
        raise syntax_error()
    if lifetime is not None and lifetime <= 0:
        raise ServerError("ERR invalid expire time in 'set' command")
    exists = space.find(key) is not None
    if (exists and "NX" in flags) or (not exists and "XX" in flags):
        return None
    space.put(key, Text(text))
    if "KEEPTTL" not in flags:
        space.expire(key, None if lifetime is None else space.now_ms + lifetime)
    return OK


def _setnx(space: Keyspace, args: Args) -> Reply:
    if space.find(args[0]) is not None:
        return 0
    space.put(args[0], Text(args[1]))
    return 1


def _add(space: Keyspace, key: str, amount: int) -> int:
    value = space.typed(key, Text)
    number = (0 if value is None else parse_integer(value.text)) + amount
    if not I64_MIN <= number <= I64_MAX:
        raise ServerError("ERR increment or decrement would overflow")
    space.put(key, Text(str(number)))
    return number


def _incr(space: Keyspace, args: Args) -> Reply:
    return _add(space, args[0], 1)


def _incrby(space: Keyspace, args: Args) -> Reply:
    return _add(space, args[0], parse_integer(args[1]))


COMMANDS: Commands = {
    "GET": Command(_get, 1, 1),
    "SET": Command(_set, 2, None),
    "SETNX": Command(_setnx, 2, 2),
    "INCR": Command(_incr, 1, 1),
    "INCRBY": Command(_incrby, 2, 2),
}
