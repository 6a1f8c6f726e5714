"""Checks as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from control_plane.embedded import Check


def check_table(checks: Sequence[Check]) -> Table:
    """A row for each: whether it holds, what was found, and what would help."""
    table = Table()
    for heading in ("", "check", "found", "what would help"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        mark = Text("ok", "green") if check.ok else Text("--", "yellow")
        if check.required and not check.ok:
            mark = Text("no", "bold red")
        hint = "" if check.ok else check.hint
        table.add_row(mark, check.name, Text(check.found), Text(hint))
    return table
