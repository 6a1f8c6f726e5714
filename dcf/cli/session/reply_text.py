"""Answers of a conductor, which are Markdown, on a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.markdown import Markdown

from dcf.cli.screen import Screen

_DIVIDER = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")
_CELLS = re.compile(r"(?<!\\)\|")
_BOLD = re.compile(r"\*\*(\S(?:.*?\S)?)\*\*")
_WIDEST = 44
"""A column that is wider stands below its row."""
_GAP = "  "


def show_text(text: str, screen: Screen) -> None:
    """Print an answer: as Markdown on a terminal, as plain lines elsewhere; tables in columns."""
    for part in parts_of(text):
        if not isinstance(part, str):
            for line in aligned(part, screen.human.width):
                screen.say(line)
        elif not part.strip():
            screen.say("")
        elif screen.human.is_terminal:
            # Lines stay lines: Markdown alone would make one paragraph of them.
            screen.human.print(Markdown(part.replace("\n", "  \n"), hyperlinks=False))
        else:
            screen.say(_BOLD.sub(r"\1", part))


def parts_of(text: str) -> Iterator[str | list[list[str]]]:
    """The text in order: what is no table as it is, tables as rows of cells, the heading first."""
    lines = text.split("\n")
    plain: list[str] = []
    at = 0
    while at < len(lines):
        if at + 1 < len(lines) and "|" in lines[at] and _DIVIDER.fullmatch(lines[at + 1]):
            if plain:
                yield "\n".join(plain)
            plain = []
            rows = [_cells(lines[at])]
            at += 2
            while at < len(lines) and lines[at].lstrip().startswith("|"):
                rows.append(_cells(lines[at]))
                at += 1
            yield rows
        else:
            plain.append(lines[at])
            at += 1
    if plain:
        yield "\n".join(plain)


def aligned(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The rows in columns without lines between them; cells of wide columns, and of more columns
    than have room, are indented below."""
    count = max(len(row) for row in rows)
    whole = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(cell_len(row[at]) for row in whole) for at in range(count)]
    beside = [at for at in range(count) if 0 < widths[at] <= _WIDEST]
    while len(beside) > 1 and sum(widths[at] + len(_GAP) for at in beside) - len(_GAP) > width:
        beside.remove(max(beside, key=widths.__getitem__))
    below = [at for at in range(count) if widths[at] and at not in beside]
    for number, row in enumerate(whole):
        cells = [row[at] + " " * (widths[at] - cell_len(row[at])) for at in beside]
        yield _GAP.join(cells).rstrip()
        if number:
            yield from (f"    {row[at]}" for at in below if row[at])


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELLS.split(inside)]
