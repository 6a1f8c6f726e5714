"""A board as a table, and its changes as lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from dcf.cli.board import Board, Row
from dcf.cli.wording import counted

STYLES = {
    "pending": "dim",
    "ready": "cyan",
    "running": "bold yellow",
    "waiting": "blue",
    "done": "green",
    "succeeded": "bold green",
    "failed": "bold red",
    "timed_out": "bold red",
    "cancelled": "magenta",
    "skipped": "dim",
}
_LONGEST_ERROR = 160
_MOST_CHILDREN = 8
_UNDER_WAY = frozenset({"ready", "running", "waiting"})


def board_table(board: Board, note: str = "") -> Table:
    """The table; ``note`` stands below it. Once the run is over, what was not needed is counted."""
    skipped = sum(row.status == "skipped" for row in board.rows)
    if skipped:
        why = "needed" if board.status == "succeeded" else "reached"
        left_out = counted(skipped, "state was", "states were")
        note = f"{note}\n{left_out} not {why}".strip()
    title = Text.assemble(
        (board.name, "bold"), "  ", board.workflow_id, "  ", status_text(board.status),
        f"  {board.done}/{len(board.rows)} states done", f"  {seconds_text(board.seconds)}",
    )  # fmt: skip
    table = Table(title=title, title_justify="left", caption=note or None, caption_justify="left")
    for heading in ("state", "status", "note", "try", "holder", "in all", "error"):
        right = heading in ("try", "in all")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in board.rows:
        if row.status == "skipped":
            continue
        table.add_row(*_cells(row))
        _add_children(table, row)
    return table


def _add_children(table: Table, row: Row) -> None:
    """What is under way inside a Map or Parallel, the first few of it."""
    under_way = [child for child in row.children if child.status in _UNDER_WAY]
    for child in under_way[:_MOST_CHILDREN]:
        table.add_row(*_cells(child, indent="  "))
    if len(under_way) > _MOST_CHILDREN:
        table.add_row(Text(f"  … {len(under_way) - _MOST_CHILDREN} more", "dim"))


def _cells(row: Row, indent: str = "") -> list[Text]:
    return [
        Text(indent + row.name),
        status_text(row.status),
        Text(row.detail),
        Text(str(row.try_) if row.try_ else ""),
        Text(row.holder),
        Text(seconds_text(row.seconds)),
        Text(_short(row.error), "red"),
    ]


def changes(before: Board | None, after: Board) -> Iterator[str]:
    """A line for each state that changed, at any depth, for where no table can be drawn."""
    known = {row.name: row for row in _flat(before)} if before else {}
    for row in _flat(after):
        old = known.get(row.name)
        if row.status in ("pending", "skipped") or (old and _gist(old) == _gist(row)):
            continue
        yield f"[{seconds_text(after.seconds):>7}] {row.name}: {' '.join(_gist(row))}"


def _flat(board: Board) -> Iterator[Row]:
    """Every row, what is inside a state before the state itself: it ends first."""
    for row in board.rows:
        yield from row.children
        yield row


def status_text(status: str) -> Text:
    """A status in its colour."""
    return Text(status, STYLES.get(status, ""))


def seconds_text(seconds: float | None) -> str:
    """``2.4 s``, ``3 min 05 s``, ``2 h 05 min``; nothing for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min {int(seconds % 60):02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _gist(row: Row) -> list[str]:
    """What makes a change worth a line."""
    parts = [row.status]
    # How long it waits is another at each look, and no change.
    if row.detail and row.status not in ("waiting", "ready"):
        parts.append(f"({row.detail})")
    if row.holder and row.status == "running":
        parts.append(f"by {row.holder}, try {row.try_}")
    if row.error:
        parts.append(_short(row.error))
    return parts


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_ERROR else f"{text[: _LONGEST_ERROR - 1]}…"
