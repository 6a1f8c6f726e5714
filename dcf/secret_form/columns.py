"""Secrets in tables whose columns are parted by blanks, as data frames and commands print them.

Such a table has no signs between its cells: what stands below a name of a secret, or begins or
ends there, is its value where it looks like one. Each table is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dcf.secret_form.beside import name_before
from dcf.secret_form.found import Found
from dcf.secret_form.given import is_given
from dcf.secret_form.naming import kind_of

_LONGEST = 1_000
"""Signs of a row."""
_ROWS = 500
"""Rows of one table that are looked at."""
_BEHIND = re.compile(r"(?P<rest>[\w.-]{0,20}+)(?:[ ]{2,200}+[\w.#/(-]|[ ]{0,200}+\r?\n)")
_TITLE = r"[\w.#/()-]{1,40}+(?: [\w.#/()-]{1,40}+)?"
_TITLES = re.compile(
    rf"[ ]{{0,200}}+{_TITLE}(?:[ ]{{2,200}}+{_TITLE}){{1,40}}[ ]{{0,200}}+\r?(?:\n|\Z)"
)
_ONE_TITLE = re.compile(_TITLE)
_CELL = re.compile(r"[^\s]{3,200}+")


class _Column(NamedTuple):
    """A name of a secret among the titles, and where it stands in their line."""

    name: re.Match[str]
    start: int
    end: int


def in_columns(text: str, lower: str, names: Iterable[int]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets."""
    seen = 0
    for place in names:
        if place < seen or not _BEHIND.match(lower, place):
            continue
        begin = lower.rfind("\n", max(0, place - _LONGEST), place) + 1
        titles = _TITLES.match(lower, begin) if place - begin < _LONGEST else None
        if titles is None or titles.end() <= place:
            seen = place + 1
            continue
        rows = list(_rows(text, titles.end()))
        seen = rows[-1][1] if rows else titles.end()
        yield from _in_rows(text, rows, list(_columns(lower, begin, titles.end())))


def _columns(lower: str, begin: int, end: int) -> Iterator[_Column]:
    """The titles in a line that are names of secrets."""
    for title in _ONE_TITLE.finditer(lower, begin, end):
        name = name_before(lower, title.start(), title.end())
        if name is not None:
            yield _Column(name, title.start() - begin, title.end() - begin)


def _rows(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the rows from ``at`` begin and end: up to the next line without signs."""
    for _ in range(_ROWS):
        end = text.find("\n", at, at + _LONGEST)
        end = min(len(text), at + _LONGEST) if end < 0 else end
        if not text[at:end].strip():
            return
        yield at, end
        at = end + 1


def _in_rows(
    text: str, rows: Sequence[tuple[int, int]], columns: Sequence[_Column]
) -> Iterator[Found]:
    for begin, end in rows if columns else ():
        for cell in _CELL.finditer(text, begin, end):
            for column in columns:
                is_below = cell.start() - begin < column.end and cell.end() - begin > column.start
                if is_below and is_given(cell[0], column.name):
                    yield Found(kind_of(column.name[0]), *cell.span())
