"""What a file is cut into: definitions, and windows of the lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dcf.code.symbol import Symbol
from dcf.search import words

_WINDOW = 60
"""Lines of a window."""
_WHOLE = 150
"""Lines up to which a function is one piece, whatever is in it."""
_INSIDE = frozenset({"function", "method", "macro"})


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines ``first_line`` to ``last_line``, both its own, with their ``text``. ``symbol`` is what
    they define or stand in, None outside of everything; ``names`` are those of all definitions that
    begin here."""

    first_line: int
    last_line: int
    symbol: Symbol | None
    names: tuple[str, ...]
    text: str


def pieces(text: str, symbols: Sequence[Symbol]) -> tuple[Piece, ...]:
    """``text`` in pieces: no line is in two, and each line that has a letter or a digit is in one.

    A function is one piece with the functions inside of it. A class, and a function of over 150
    lines, is its head, the definitions in it, and what is between them.
    """
    # As the grammars count lines: only by their newlines.
    lines = text.split("\n")
    owners = _owners(len(lines), symbols)
    begins: dict[int, list[str]] = {}
    for symbol in symbols:
        begins.setdefault(symbol.first_line, []).append(symbol.name)
    return tuple(
        piece
        for first, last in _runs(owners)
        for piece in _windows(lines, first, last, owners[first], begins)
    )


def _owners(count: int, symbols: Sequence[Symbol]) -> list[Symbol | None]:
    """The definition that each line belongs to: the innermost that is a piece."""
    owners: list[Symbol | None] = []
    within: list[Symbol] = []
    place = 0
    for line in range(1, count + 1):
        while within and within[-1].last_line < line:
            within.pop()
        while place < len(symbols) and symbols[place].first_line == line:
            symbol = symbols[place]
            if not within or not _is_whole(within[-1]) or within[-1].last_line < symbol.last_line:
                within.append(symbol)
            place += 1
        owners.append(within[-1] if within else None)
    return owners


def _is_whole(symbol: Symbol) -> bool:
    """Whether its lines stay together."""
    return symbol.kind in _INSIDE and symbol.last_line - symbol.first_line < _WHOLE


def _runs(owners: Sequence[Symbol | None]) -> Iterator[tuple[int, int]]:
    """Neighbouring lines with the same owner: the first, and the one after the last, from 0."""
    first = 0
    for row in range(1, len(owners) + 1):
        if row == len(owners) or owners[row] is not owners[first]:
            yield first, row
            first = row


def _windows(
    lines: Sequence[str],
    first: int,
    last: int,
    owner: Symbol | None,
    begins: Mapping[int, Sequence[str]],
) -> Iterator[Piece]:
    whole = owner is not None and _is_whole(owner)
    while first < last:
        end = last if whole else _end(lines, first, last)
        text = "\n".join(lines[first:end])
        if words(text):
            names = chain.from_iterable(begins.get(line, ()) for line in range(first + 1, end + 1))
            yield Piece(first + 1, end, owner, tuple(dict.fromkeys(names)), text)
        first = end


def _end(lines: Sequence[str], first: int, last: int) -> int:
    """Where the window that begins at ``first`` ends: at the last empty line of its second half, if
    there is one."""
    most = min(first + _WINDOW, last)
    if most == last:
        return last
    empty = (row for row in range(most - 1, first + _WINDOW // 2, -1) if not lines[row].strip())
    return next(empty, most)
