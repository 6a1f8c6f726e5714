"""A report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.advisors.report.report import Report, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")


def markdown_of(report: Report) -> str:
    """The report in GitHub's Markdown; texts of runs are shown as they are, never as markup."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_plain(report.title)}"
    yield ""
    for section in report.sections:
        yield f"## {_plain(section.title)}"
        yield ""
        for text in section.text:
            yield _plain(text)
            yield ""
        if section.commands:
            # Ours, with nothing of runs in them: as code they can be copied.
            yield from (f"- `{one.line}`: {_plain(one.what)}" for one in section.commands)
            yield ""
        if section.table is not None:
            yield from _table(section.table)
            yield ""


def _table(table: Table) -> Iterator[str]:
    yield _row(table.columns)
    marks = ["---:" if at in table.numeric else "---" for at in range(len(table.columns))]
    yield f"| {' | '.join(marks)} |"
    for row in table.rows:
        yield _row(row)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
