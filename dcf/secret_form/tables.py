"""Secrets in tables: cells of a column that is called like a secret.

Tables are lines of values between commas, semicolons, tabs or bars, as spreadsheets and password
managers write them, and tables of Markdown, of ``psql`` and of ``mysql``, with a rule below the
names of the columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from dcf.secret_form.found import Found
from dcf.secret_form.naming import FOREIGN_NAME, NAME, kind_of
from dcf.secret_form.plain import is_owner, is_plain
from dcf.secret_form.said import is_example, is_said
from dcf.secret_form.view import Bit, View

Cells: TypeAlias = list[tuple[int, int]]
"""Where the cells of a row begin and end."""

_LONGEST = 4_000
"""Signs of the line with the names of the columns."""
_ENDS = ",;\t|\r\n"
_REMARK = r"(?: ?\([^()]*\))?"
_COLUMN = re.compile(rf"(?:[\w.-]{{0,30}}?[ _.-])??(?:{NAME}){_REMARK}")
_FOREIGN_COLUMN = re.compile(rf"(?:\w{{1,30}}[ _.-])??{FOREIGN_NAME}{_REMARK}")
_WORD = re.compile(r"[\w.#/-]{1,40}")
_TITLE = re.compile(r"\w[\w .#/%-]{0,40}")
_NAMES = re.compile(r"[\w .#/%\"';\t,-]*+\r?\n")
"""The line of a table without a rule; the source of a program has other signs in most lines."""
RULE = re.compile(r"[ \t>]*+(?:[|+][ \t]*+)?:?-{3,}[-+|: \t]*\r?(?:\n|\Z)")
AROUND = " \t\"'*`_\r"
_SIGNS = ",;\t"
_LEAST = 3
_LEAST_MADE = 6
_QUOTED = r"[ \t]*+\"(?>(?:[^\"]|\"\"){0,10000})\"[ \t\r]*+"
_CELL = {
    "|": re.compile(r"(?>(?:[^|\n\\]|\\.)*)"),
    **{sign: re.compile(rf"{_QUOTED}(?={sign}|\n|\Z)|[^{sign}\n]*+") for sign in ",;"},
    # Tabs part the cells: as blanks of one, all of them would be read again from each.
    "\t": re.compile(_QUOTED.replace(r"[ \t", "[ ") + r"(?=\t|\n|\Z)|[^\t\n]*+"),
}


def in_tables(text: str, lower: str, names: Iterable[tuple[int, str]]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets behind which APART is, with the last sign of that."""
    seen = 0
    for place, sign in names:
        if place < seen or sign not in _ENDS:
            continue
        begin = max(seen, lower.rfind("\n", max(seen, place - _LONGEST), place) + 1)
        end = lower.find("\n", place, place + _LONGEST)
        if end < 0:
            # It has no line below it, or a longer one than names of columns make.
            seen = place + 1
            continue
        seen = end
        for found in _in_table(text, lower, begin, end):
            yield found
            seen = max(seen, found.end)


def _in_table(text: str, lower: str, begin: int, end: int) -> Iterator[Found]:
    """What is found below the line from ``begin`` to ``end``."""
    rule = RULE.match(lower, end + 1)
    if rule is None and not _NAMES.match(lower, begin):
        return
    sign = "|" if rule else max(_SIGNS, key=lambda one: lower.count(one, begin, end))
    titles, below = row(text, begin, sign)
    names = [lower[slice(*one)].strip(f"{AROUND}|") for one in titles]
    # In prose a blank follows a comma, and there are several words before the first one.
    title = _WORD if ", " in lower[begin:end] else _TITLE
    if rule is None and not (len(names) > 1 and all(map(title.fullmatch, names))):
        return
    columns = {at: hit for at, name in enumerate(names) if (hit := called(name))}
    # A token of somebody may be a word; one of a language is.
    owned = any(map(is_owner, names))
    at = rule.end() if rule else below
    while columns and at < len(text):
        cells, below = row(text, at, sign)
        # With a rule rows may have fewer cells, or more: GitHub Flavored Markdown, 4.10.
        if len(cells) != len(titles) and (rule is None or len(cells) == 1):
            break
        for column, hit in columns.items():
            if column < len(cells):
                yield from _cell(text, lower, cells[column], hit, owned=owned)
        at = below


def as_bars(text: str) -> View:
    """``text``, which has a row in each line, as a table of Markdown; and once more as one without
    names of its columns, which the first row may have or not."""
    sign = max(_SIGNS, key=text.partition("\n")[0].count)
    lines, at = list[list[Bit]](), 0
    while at < len(text):
        cells, at = row(text, at, sign)
        bars = (bit for cell in cells for bit in (Bit("| "), _in_bars(text, *cell)))
        lines.append([*bars, Bit("|\n")])
    rule, empty = Bit("|---|\n"), Bit("| | |\n")
    return View(chain(*lines[:1], [rule], *lines[1:], [Bit("\n"), empty, rule], *lines))


def _in_bars(text: str, start: int, end: int) -> Bit:
    """A cell as one of a table between bars, where it is one line."""
    return Bit(text[start:end].replace("\n", " ").replace("|", "/"), start, end)


def called(name: str) -> re.Match[str] | None:
    """The name of a secret that a column has."""
    return _COLUMN.fullmatch(name) or _FOREIGN_COLUMN.fullmatch(name)


def row(text: str, begin: int, sign: str) -> tuple[Cells, int]:
    """The cells of the row at ``begin``, and where the next one begins."""
    cells: Cells = []
    while True:
        cell = _CELL[sign].match(text, begin)
        assert cell is not None  # it may be empty
        cells.append(cell.span())
        begin = cell.end() + 1
        if text[cell.end() : begin] != sign:
            return cells, begin


def _cell(
    text: str, lower: str, cell: tuple[int, int], hit: re.Match[str], *, owned: bool
) -> Iterator[Found]:
    whole = text[slice(*cell)]
    value = whole.strip(AROUND)
    start = cell[0] + whole.find(value)
    if len(value) < _LEAST or is_said(lower, start, quoted=False):
        return
    made = is_made(value) and not is_example(text, start)
    if not hit["chosen"] and not made and not (owned and is_plain(value, hit)):
        return
    yield Found(kind_of(hit[0]), start, start + len(value))


def is_made(value: str) -> bool:
    """Whether it can be what a machine makes: no word, and no number alone."""
    if len(value) < _LEAST_MADE or any(one.isspace() for one in value):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
