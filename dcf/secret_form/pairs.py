"""Plain words that are secrets in tables of two columns: a name and its value in each row.

A table says by its other rows, its titles or what it is called that its second column has values.
Each table is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dcf.secret_form.found import Found
from dcf.secret_form.naming import kind_of
from dcf.secret_form.plain import is_account, is_plain, is_title_of_secrets, is_value_title
from dcf.secret_form.tables import AROUND, RULE, Cells, called, row

_LONGEST = 4_000
"""Signs of a row."""
_ROWS = 500
"""Rows of one table that are looked at."""
_ABOVE = 3
"""Lines above a table among which its title is."""
_STARTS = " \t>"
_PASSWORDS = called("password")


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of two cells with what they say in small letters; ``titles`` are the first row's where a
    rule is below it."""

    begin: int
    end: int
    rows: tuple[tuple[Cells, tuple[str, str]], ...]
    titles: tuple[str, str] | None
    called: str


def in_pairs(text: str, lower: str, names: Iterable[tuple[int, str]]) -> Iterator[Found]:
    """What is found in ``text``, which is ``lower`` in small letters; ``names`` are the places of
    names of secrets behind which APART is, with the last sign of that."""
    seen = 0
    for place, sign in names:
        if place < seen or sign not in "|\r\n":
            continue
        seen = place + 1
        begin = lower.rfind("\n", max(0, place - _LONGEST), place) + 1
        if sign != "|":
            if not is_title_of_secrets(lower[begin : _end(lower, place)]):
                continue
            begin = _below(lower, _end(lower, place))
        if lower[begin : begin + 40].lstrip(_STARTS)[:1] != "|":
            continue
        table = _table(text, lower, begin)
        seen = max(seen, table.end)
        yield from _in_table(text, table)


def _in_table(text: str, table: _Table) -> Iterator[Found]:
    listed = is_title_of_secrets(table.called)
    if not (listed or _has_values(table)):
        return
    titled = table.titles is not None and not _is_row(table.titles)
    for cells, (name, _) in table.rows[titled:]:
        hit = called(name.rstrip(":")) or (_PASSWORDS if listed and titled else None)
        start, end = cells[1]
        value = text[start:end].strip(AROUND)
        if hit is not None and is_plain(value, hit):
            begin = start + text[start:end].find(value)
            yield Found(kind_of(hit[0]), begin, begin + len(value))


def _has_values(table: _Table) -> bool:
    titles = table.titles
    if titles is None or _is_row(titles) or len(table.rows) == 1:
        return len(table.rows) == 1 or any(is_account(name) for _, (name, _) in table.rows)
    return is_value_title(titles[1])


def _is_row(titles: tuple[str, str]) -> bool:
    """Whether what stands where titles do is a name and its value."""
    name = titles[0].rstrip(":")
    return is_account(name) or called(name) is not None


def _table(text: str, lower: str, begin: int) -> _Table:
    """The table that has the line at ``begin``."""
    first = begin
    for _ in range(_ROWS):
        above = lower.rfind("\n", max(0, first - 1 - _LONGEST), max(0, first - 1)) + 1
        if above >= first or lower[above : above + 40].lstrip(_STARTS)[:1] != "|":
            break
        first = above
    rows: list[tuple[Cells, tuple[str, str]]] = []
    titles, at = None, first
    for _ in range(2 * _ROWS):
        if at >= len(lower) or lower[at : at + 40].lstrip(_STARTS)[:1] != "|":
            break
        rule = RULE.match(lower, at)
        if rule is not None:
            titles = rows[0][1] if len(rows) == 1 else titles
            at = rule.end()
            continue
        cells, at = row(text, at, "|")
        # Before the first bar, and behind the last one, there is nothing.
        inner = cells[1:-1] if not lower[slice(*cells[-1])].strip() else cells[1:]
        said = [lower[slice(*one)].strip(AROUND) for one in inner]
        if len(inner) == 3 and said[0].isdigit():
            inner, said = inner[1:], said[1:]
        if len(inner) == 2:
            rows.append((inner, (said[0], said[1])))
    return _Table(first, at, tuple(rows), titles, _title(lower, first))


def _title(lower: str, first: int) -> str:
    """The line above, if not more than an empty one is between."""
    end = first
    for _ in range(_ABOVE):
        begin = lower.rfind("\n", max(0, end - 1 - _LONGEST), max(0, end - 1)) + 1
        if begin >= end or lower[begin:end].strip():
            return lower[begin:end].strip() if begin < end else ""
        end = begin
    return ""


def _below(lower: str, at: int) -> int:
    """Where the next line begins that is not empty."""
    for _ in range(_ABOVE):
        end = _end(lower, at + 1)
        if lower[at + 1 : end].strip():
            return at + 1
        at = end
    return at


def _end(lower: str, at: int) -> int:
    end = lower.find("\n", at, at + _LONGEST)
    return min(len(lower), at + _LONGEST) if end < 0 else end
