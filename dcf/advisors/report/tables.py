"""Tables of a report, no longer than people read."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.advisors.report.report import Table

_ROWS = 40
"""The longest table; what follows is counted."""
_RUNS = 3


def table_of(
    columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], numeric: tuple[int, ...] = ()
) -> Table:
    shown = tuple(rows[:_ROWS])
    if len(rows) > _ROWS:
        shown += ((f"… and {len(rows) - _ROWS} more", *("" for _ in columns[1:])),)
    return Table(columns, shown, numeric)


def last_runs(ids: Sequence[str]) -> str:
    return ", ".join(ids[-_RUNS:]) or "–"


def few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _RUNS} more" if len(names) > _RUNS else ""
    return ", ".join(names[:_RUNS]) + more if names else "–"
