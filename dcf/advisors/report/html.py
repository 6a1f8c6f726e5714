"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dcf.advisors.report.chart import svg_of
from dcf.advisors.report.report import Command, Report, Table

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de;
  --ground: #ffffff; --stripe: #f6f8fa; --mark: #0a5fb4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --line: #30363d;
  --ground: #0d1117; --stripe: #161b22; --mark: #6cb6ff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 76rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; } .scroll:focus-visible { outline: 2px solid var(--mark); }
dt { float: left; clear: left; min-width: 11rem; } dd { margin-left: 11.5rem; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: anywhere; min-width: 6rem; max-width: 26rem; }
td:first-child { min-width: 11rem; }
th { color: var(--soft); font-weight: 600; overflow-wrap: normal; }
tbody tr:nth-child(even) { background: var(--stripe); }
.number { text-align: right; white-space: nowrap; min-width: 0; }
th.number { white-space: normal; }
.chart { width: 100%; min-width: 30rem; max-width: 46rem; height: auto; margin: 0.5rem 0 1rem; }
.chart text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.chart .tick { fill: var(--soft); text-anchor: middle; } .chart .note { fill: var(--soft); }
.chart .grid { stroke: var(--line); } .chart .bar, .chart .dot { fill: var(--mark); }
.chart .whisker { stroke: var(--mark); stroke-width: 2; }
@media (max-width: 66rem) { body { padding: 1rem; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  td, td.number { max-width: none; border: 0; padding: 0.1rem 0.4rem 0.1rem 8rem; text-align: left;
    white-space: normal; }
  td:empty { display: none; }
  td::before { content: attr(data-column); float: left; width: 7rem; margin-left: -7.6rem;
    color: var(--soft); } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html_of(report: Report) -> str:
    """The page: no script, nothing loaded from anywhere, light or dark as the reader has it."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    title = escape(report.title)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>"
    yield f"<h1>{title}</h1>"
    for number, section in enumerate(report.sections, 1):
        yield f'<section aria-labelledby="section{number}">'
        yield f'<h2 id="section{number}">{escape(section.title)}</h2>'
        yield from (f"<p>{escape(text)}</p>" for text in section.text)
        yield from _commands(section.commands)
        if section.chart is not None and section.chart.bars:
            yield f"{_scrolled(section.chart.title)}{svg_of(section.chart, number)}</div>"
        if section.table is not None:
            yield from _table(section.table, section.title)
        yield "</section>"
    yield "</main>\n</body>\n</html>"


def _commands(commands: tuple[Command, ...]) -> Iterator[str]:
    if commands:
        said = (f"<dt><code>{escape(one.line)}</code></dt><dd>{escape(one.what)}</dd>"
                for one in commands)  # fmt: skip
        yield f"<dl>{''.join(said)}</dl>"


def _table(table: Table, title: str) -> Iterator[str]:
    yield f"{_scrolled(title)}<table><thead><tr>"
    yield "".join(
        f'<th scope="col"{_right(table, at)}>{escape(column)}</th>'
        for at, column in enumerate(table.columns)
    )
    yield "</tr></thead><tbody>"
    for row in table.rows:
        # On a narrow page each row is a card, and its cells name their columns.
        cells = (
            f'<td data-column="{escape(column)}"{_right(table, at)}>{escape(cell)}</td>'
            for at, (column, cell) in enumerate(zip(table.columns, row, strict=True))
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _scrolled(title: str) -> str:
    """The start of a part that may be wider than the page; it is reachable by keyboard."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}">'


def _right(table: Table, column: int) -> str:
    return ' class="number"' if column in table.numeric else ""
