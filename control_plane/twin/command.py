"""What a command of the twin is: a function over the keyspace, its arity and its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from control_plane.errors import ServerError
from control_plane.twin.keyspace import Keyspace

Args: TypeAlias = Sequence[str]
Reply: TypeAlias = "str | int | ServerError | list[Reply] | None"
Handler: TypeAlias = Callable[[Keyspace, Args], Reply]
KeysOf: TypeAlias = Callable[[Args], Sequence[str]]


class Status(str):
    """A status reply: text for a client, ``{ok = text}`` for a script."""

    __slots__ = ()


OK = Status("OK")


def no_keys(args: Args) -> Sequence[str]:
    """For commands that touch no key."""
    return ()


def first_key(args: Args) -> Sequence[str]:
    """For commands whose first argument is their only key."""
    return args[:1]


def first_two_keys(args: Args) -> Sequence[str]:
    """For commands with a source and a destination."""
    return args[:2]


def all_keys(args: Args) -> Sequence[str]:
    """For commands that take nothing but keys."""
    return args


@dataclass(frozen=True, slots=True)
class Command:
    """``run`` takes the arguments after the name; ``least`` and ``most`` count these."""

    run: Handler
    least: int
    most: int | None
    keys: KeysOf = first_key

    def accepts(self, count: int) -> bool:
        """Whether ``count`` arguments can be right."""
        return count >= self.least and (self.most is None or count <= self.most)


Commands: TypeAlias = Mapping[str, Command]


def wrong_arity(name: str) -> ServerError:
    """The server's complaint about a number of arguments."""
    return ServerError(f"ERR wrong number of arguments for '{name.lower()}' command")


SYNTAX_ERROR = "ERR syntax error"


def syntax_error() -> ServerError:
    """The server's complaint about an option."""
    return ServerError(SYNTAX_ERROR)
