"""What a file is cut into: definitions, and windows of the lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dcf.code.definitions import Symbol
from dcf.code.language import has_grammar, language_of
from dcf.code.symbols import parsed, python_parsed
from dcf.problem import Problem
from dcf.search import words
from dcf.secret_form import is_credential, without_secrets

_WINDOW = 60
"""Lines of a window."""
_WHOLE = 150
"""Lines up to which a function is one piece, whatever is in it."""
_INSIDE = frozenset({"function", "method", "macro"})

_TABLES = (".csv", ".tsv")
_PARSED = 1_048_576
"""Characters: a longer text is cut by lines. A person writes none; a program's has one line."""


@dataclass(frozen=True, slots=True)
class CodePiece:
    """Lines ``first_line`` to ``last_line``, both its own, with their ``text``. ``symbol`` is what
    they define or stand in, None outside of everything; ``names`` are those of all definitions that
    begin here."""

    first_line: int
    last_line: int
    symbol: Symbol | None
    names: tuple[str, ...]
    text: str


def pieces(text: str, symbols: Sequence[Symbol]) -> tuple[CodePiece, ...]:
    """``text`` in pieces: no line is in two, and each line that has a letter or a digit is in one.

    A function is one piece with the functions inside of it. A class, and a function of over 150
    lines, is its head, the definitions in it, and what is between them.
    """
    # As the grammars count lines: only by their newlines.
    lines = text.removesuffix("\n").split("\n")
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
) -> Iterator[CodePiece]:
    whole = owner is not None and _is_whole(owner)
    while first < last:
        end = last if whole else _end(lines, first, last)
        text = "\n".join(lines[first:end])
        if words(text):
            names = chain.from_iterable(begins.get(line, ()) for line in range(first + 1, end + 1))
            yield CodePiece(first + 1, end, owner, tuple(dict.fromkeys(names)), text)
        first = end


def _end(lines: Sequence[str], first: int, last: int) -> int:
    """Where the window that begins at ``first`` ends: at the last empty line of its second half, if
    there is one."""
    most = min(first + _WINDOW, last)
    if most == last:
        return last
    empty = (row for row in range(most - 1, first + _WINDOW // 2, -1) if not lines[row].strip())
    return next(empty, most)


def cut(path: str, text: str) -> tuple[Sequence[CodePiece], list[Problem]]:
    """The pieces of ``text`` without its secrets, which leave each line where it is, and what is
    odd about it. Without its grammar, or if it is very long, it is cut by lines."""
    # The program is parsed as it is written: what takes the place of a secret may be no program.
    told = shown(path, text)
    language = language_of(path)
    if language is None:
        return pieces(told, ()), []
    if len(text) > _PARSED:
        message = f"it has over {_PARSED:,} characters and is cut by lines, not by definitions"
        return pieces(told, ()), [Problem("code_file_long", message, "", "", "warning", path)]
    if has_grammar(language):
        found = parsed(text, language)
    elif language == "python":
        found = python_parsed(text)
    else:
        return pieces(told, ()), []
    odd = []
    if found.error_line is not None:
        message = f"it is no {language} from here on; what can be read of it is searched"
        line = found.error_line
        odd.append(Problem("code_syntax", message, "", "", "warning", path, line))
    return pieces(told, found.symbols if told == text else _named(found.symbols)), odd


def shown(path: str, text: str) -> str:
    """``text``, which is that of the file at ``path``, without its secrets; each line stays where
    it is."""
    is_table = path.lower().endswith(_TABLES)
    return without_secrets(text, keep_lines=True, is_table=is_table)


def _named(symbols: Sequence[Symbol]) -> list[Symbol]:
    """Those that have a name which may be told."""
    return [one for one in symbols if not is_credential(one.qualified_name)]
