"""What a document consists of: headings, texts, tables and code, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal, TypeAlias

from dcf.problem import Problem
from dcf.secret_form import without_secrets

BlockKind: TypeAlias = Literal["heading", "text", "table", "code", "definition"]


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines. ``first_line`` and ``last_line`` (from 1, both included) are where they
    stand in the file, None in one that has no lines; ``page`` is the page, or the cell of a
    notebook, from 1. A ``definition`` is of a file of code, and stands alone. ``level`` is that of
    a heading, from 1, and ``title`` what it says where its text has more. The first ``head`` lines
    of a table say what its columns are."""

    kind: BlockKind
    text: str
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None
    level: int = 0
    title: str = ""
    head: int = 0


@dataclass(slots=True)
class Reading:
    """What is found out about a document while its blocks are read: what it is called, how many
    pages it has, and what is odd about it; ``most`` characters may come of it."""

    path: str
    format: str
    most: int
    title: str = ""
    pages: int | None = None
    problems: list[Problem] = field(default_factory=list)

    def warn(self, code: str, message: str, hint: str = "") -> None:
        """Note what is odd and does not keep it from being read."""
        self.problems.append(Problem(code, message, "", hint, "warning", self.path))


def table_lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """A table as Markdown has it: a line for each row, and a rule below the first."""
    lines: list[str] = []
    for row in rows:
        cells = (" ".join(cell.split()).replace("|", "\\|") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
        if len(lines) == 1:
            lines.append(f"|{' --- |' * max(len(row), 1)}")
    return lines


def redacted(blocks: Sequence[Block]) -> list[Block]:
    """All of them are looked at together: what is a secret is told by what stands before it, also
    where another block begins."""
    # An empty line behind a table: its columns are none of the one below it.
    shown = (f"{one.text}\n" if one.kind == "table" else one.text for one in blocks)
    text = "\n".join(shown)
    kept = without_secrets(text, keep_lines=True)
    if kept == text:
        return list(blocks)
    lines = iter(kept.split("\n"))
    return [replace(block, text=_next(lines, block)) for block in blocks]


def _next(lines: Iterator[str], block: Block) -> str:
    text = "\n".join(islice(lines, block.text.count("\n") + 1))
    if block.kind == "table":
        next(lines)
    return text
