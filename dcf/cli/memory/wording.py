"""Sizes, times and short texts, for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby, zip_longest
from textwrap import dedent

from dcf.cli.wording import counted

_BAR = 10
_UNITS = ("bytes", "KB", "MB", "GB")
_STEP = 1000
_BETWEEN = re.compile(r"(?<!\\)\|")
"""Of the cells of a row, as Markdown writes it."""
_RULE = re.compile(r":?-+:?")
_CELL = 40
"""Characters of a cell that are shown."""
_CODE_LINES, _CODE_LINE = 12, 120
"""Lines of code that are shown, and characters of each."""


def moment(ms: int) -> str:
    """As in ``2026-11-22 18:15:50`` of this machine's time zone."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


def stamp(ms: int) -> str:
    """A moment as a part of a file's name."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y%m%d-%H%M%S}"


def size_text(size: int) -> str:
    """As in ``512 bytes`` or ``1.4 MB``."""
    if size < _STEP:
        return f"{size} bytes"
    number, unit = float(size), 0
    while number >= _STEP and unit < len(_UNITS) - 1:
        number, unit = number / _STEP, unit + 1
    return f"{number:.1f} {_UNITS[unit]}"


def fill_bar(size: int, limit: int | None) -> str:
    """How full a block is: ``█████░░░░░  52 %  2,080 of 4,000 bytes``."""
    if not limit:
        return f"{'':{_BAR}}       {size:,} bytes"
    full = min(_BAR, -(-size * _BAR // limit))
    bar = "█" * full + "░" * (_BAR - full)
    return f"{bar} {size * 100 // limit:>3} %  {size:,} of {limit:,} bytes"


def one_line(text: str, most: int = 160) -> str:
    """``text`` in one line, no longer than ``most`` characters."""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most and len(text) <= 4 * most else f"{flat[: most - 1]}…"


def excerpt(text: str, most: int) -> list[str]:
    """``text`` in lines of about ``most`` characters together: one for each row of its tables, in
    columns, and one for all that stands between two tables."""
    lines: list[str] = []
    left = most
    is_cut = len(text) > 4 * most
    for is_table, group in groupby(text[: 4 * most].splitlines(), _is_row):
        some = [*group]
        if left <= 0:
            is_cut = True
            break
        new = [*_columns(some, left)] if is_table else [one_line("\n".join(some), left)]
        lines += filter(None, new)
        left -= sum(map(len, new))
    if is_cut and lines and not lines[-1].endswith("…"):
        lines[-1] += " …"
    return lines


def code_excerpt(text: str) -> list[str]:
    """The first lines of ``text``, without the indentation that all of them have, and how many are
    left out; long ones are cut."""
    lines = dedent(text).strip("\n").splitlines()
    shown = [_short(line.rstrip()) for line in lines[:_CODE_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"… {counted(left, 'more line', 'more lines')}"] if left else shown


def _short(line: str) -> str:
    return line if len(line) <= _CODE_LINE else f"{line[: _CODE_LINE - 1]}…"


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _columns(rows: Sequence[str], most: int) -> Iterator[str]:
    """Rows as far as ``most`` characters go, the head and the first row at least."""
    cells = [[one_line(cell, _CELL) for cell in _cells(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    for number, row in enumerate(cells):
        if most <= 0 and number > 2:
            yield "…"
            return
        is_rule = all(map(_RULE.fullmatch, row))
        shown = ["-" * width for width in widths] if is_rule else row
        line = "  ".join(f"{cell:{width}}" for cell, width in zip(shown, widths, strict=False))
        yield line.rstrip()
        most -= len(line.rstrip())


def _cells(row: str) -> list[str]:
    inside = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace(r"\|", "|") for cell in _BETWEEN.split(inside)]
