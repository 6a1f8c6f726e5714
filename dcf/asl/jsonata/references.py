"""What a JSONata expression reads: variables, and what Step Functions does not offer it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dcf.asl.jsonata.functions import ENGINE_FUNCTIONS, FUNCTION_NAMES
from dcf.asl.jsonata.syntax import parse_jsonata
from dcf.asl.jsonata.tokens import Token, neighbours

_PLAIN = re.compile(r"\$([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)*)?", re.ASCII)
"""``$name.field.field``, the commonest expression, needs no engine to see what it reads."""


@dataclass(frozen=True, slots=True)
class References:
    """``variables`` in order of first use, without ``$``, ``states`` and functions.

    ``context`` are names read from the context item, of which there is none: ``phone`` in
    ``{% phone %}``, ``$`` in ``{% $.phone %}``. ``root`` says that ``$$`` is read. ``members`` are
    the fields read from ``$states``, ``unknown_functions`` the names called that no function has.
    """

    variables: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    root: bool = False
    members: tuple[str, ...] = ()
    unknown_functions: tuple[str, ...] = ()

    @property
    def of_work(self) -> tuple[str, ...]:
        """Of ``members`` those that only the work of a state gives: its result, or its error."""
        return tuple(name for name in self.members if name in ("result", "errorOutput"))


@lru_cache(maxsize=16_384)
def read_references(text: str) -> References:
    """What ``text``, without its ``{% %}``, reads; raises ExpressionError.

    The engine knows which variables the expression has of its own; their order is in the words.
    """
    plain = _PLAIN.fullmatch(text)
    if plain is not None:
        return _plain_references(*plain.groups())
    expression, words = parse_jsonata(text)
    # A function reads its arguments only, one that the engine does not know its context too.
    unknown = set(_called(words)) - ENGINE_FUNCTIONS
    read = expression.reads(dict.fromkeys(unknown, _known)) if unknown else expression.reads()
    free = read["bindings"].keys() | ({"eval"} if read.get("everyBinding") else set())
    return References(
        _in_order(_data(words), free - FUNCTION_NAMES - {"states"}),
        _context(words, read.get("input")),
        any(word.kind == "variable" and word.text == "$" for word in words),
        _in_order(_members(words)) if "states" in free else (),
        _in_order(_called(words), free - FUNCTION_NAMES),
    )


def _known(*_: object) -> None:
    """What stands for a function."""


def _plain_references(name: str, field: str | None) -> References:
    if name == "states":
        return References(members=() if field is None else (field,))
    return References() if name in FUNCTION_NAMES else References((name,))


def _in_order(names: Iterable[str], among: Iterable[str] | None = None) -> tuple[str, ...]:
    wanted = None if among is None else frozenset(among)
    return tuple(dict.fromkeys(name for name in names if wanted is None or name in wanted))


def _data(words: Sequence[Token]) -> Iterator[str]:
    """Variables that are read, and not called."""
    for _, word, after in neighbours(words):
        if word.kind == "variable" and not (after is not None and after.is_sign("(")):
            yield word.text


def _called(words: Sequence[Token]) -> Iterator[str]:
    for _, word, after in neighbours(words):
        if word.kind == "variable" and after is not None and after.is_sign("("):
            yield word.text


def _context(words: Sequence[Token], read: object) -> tuple[str, ...]:
    """How the context item is read; ``read``: the fields of it, or True for all of it."""
    if isinstance(read, dict):
        return _in_order(start for start, field in _starts(words) if field in read)
    return _in_order(start for start, _ in _starts(words) if start == "$") if read is True else ()


def _starts(words: Sequence[Token]) -> Iterator[tuple[str, str | None]]:
    """Names that no path leads to, and each ``$`` with the field behind it, if there is one."""
    for place, word in enumerate(words):
        before = words[place - 1] if place else None
        if before is not None and before.is_sign("."):
            continue
        if word.kind == "name":
            yield word.text, word.text
        elif word.kind == "variable" and not word.text:
            behind = words[place + 1 : place + 3]
            is_path = len(behind) == 2 and behind[0].is_sign(".") and behind[1].kind == "name"
            yield "$", behind[1].text if is_path else None


def _members(words: Sequence[Token]) -> Iterator[str]:
    """Fields of ``$states``."""
    for place in range(len(words) - 2):
        first, dot, field = words[place : place + 3]
        is_states = first.kind == "variable" and first.text == "states"
        if is_states and dot.is_sign(".") and field.kind == "name":
            yield field.text
