"""Sessions, companions and tasks as tables, and the changes of tasks as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dcf.cli.board_table import seconds_text
from dcf.cli.session.board import SessionBoard, TaskRow
from dcf.sessions import PREFIX, Companion, SessionRow

_STYLES = {
    "queued": "cyan",
    "ready": "cyan",
    "assigned": "yellow",
    "running": "bold yellow",
    "succeeded": "green",
    "partial": "yellow",
    "failed": "bold red",
    "cancelled": "magenta",
    "active": "green",
    "paused": "yellow",
    "completing": "yellow",
    "completed": "bold green",
    "abandoned": "magenta",
    "idle": "green",
    "busy": "bold yellow",
    "lost": "bold red",
    "error": "bold red",
    "dismissing": "dim",
}
_LONGEST = 160
_LONGEST_WHAT = 60
_TABLE_WIDTH = 120


def status_text(status: str) -> Text:
    """A status in its colour."""
    return Text(status, _STYLES.get(status.partition(" ")[0], "blue"))


def heading(board: SessionBoard) -> Text:
    """The session in one line."""
    session = board.session
    said = f"  {session.session_id}: {cut(session.head.objective, _LONGEST)}  ({board.gist})"
    return Text.assemble(status_text(session.state), said)


class TaskTable:
    """A row for each task; ``note`` stands below. Where there is no room for a table, each task is
    a few lines."""

    def __init__(self, board: SessionBoard, note: str = "") -> None:
        self._board = board
        self._note = note

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < _TABLE_WIDTH:
            yield from _task_lines(self._board, self._note)
        else:
            yield _task_rows(self._board, self._note)


def _task_lines(board: SessionBoard, note: str) -> Iterator[RenderableType]:
    yield heading(board)
    for row in board.rows:
        who = f"  by {short_name(row.companion)}" if row.companion else ""
        yield Text.assemble(
            (row.name, "bold"),
            "  ",
            status_text(row.status),
            f"  {seconds_text(row.seconds)}{who}",
        )
        yield Padding(Text(cut(row.what, _LONGEST)), (0, 0, 0, 2))
        if row.found:
            found = Text(cut(row.found, _LONGEST), "red" if row.task.error else "dim")
            yield Padding(found, (0, 0, 0, 2))
    if note:
        yield Text(note, "italic")


def short_name(companion_id: str) -> str:
    """A companion's id without what all of them begin with."""
    return companion_id.removeprefix(PREFIX)


def _task_rows(board: SessionBoard, note: str) -> Table:
    table = Table(
        title=heading(board), title_justify="left", caption=note or None, caption_justify="left"
    )
    for name in ("task", "what", "companion", "status", "in all", "result or reason"):
        table.add_column(name, justify="right" if name == "in all" else "left", overflow="fold")
    for row in board.rows:
        table.add_row(
            Text(row.name),
            Text(cut(row.what, _LONGEST_WHAT)),
            Text(short_name(row.companion)),
            status_text(row.status),
            Text(seconds_text(row.seconds)),
            Text(cut(row.found, _LONGEST), "red" if row.task.error else ""),
        )
    return table


class CompanionTable:
    """A row for each companion, at ``now`` (ms); ``served`` are those that somebody serves at the
    moment. Where there is no room for a table, each is a few lines."""

    def __init__(self, companions: Iterable[Companion], now: int, served: frozenset[str]) -> None:
        self._companions = list(companions)
        self._now = now
        self._served = served

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < _TABLE_WIDTH:
            yield from self._lines()
        else:
            yield self._rows()

    def _lines(self) -> Iterator[RenderableType]:
        for one in self._companions:
            name = (short_name(one.companion_id), "bold")
            yield Text.assemble(name, f"  {one.specialization}  ", self._status(one))
            did = f"{one.succeeded} done, {one.failed} failed"
            yield Padding(Text(f"{did}, has {one.task_id}" if one.task_id else did), (0, 0, 0, 2))
            if one.skills:
                yield Padding(Text(", ".join(one.skills), "dim"), (0, 0, 0, 2))

    def _rows(self) -> Table:
        table = Table()
        for name in ("companion", "specialization", "status", "task", "done", "failed", "skills"):
            right = name in ("done", "failed")
            table.add_column(name, justify="right" if right else "left", overflow="fold")
        for one in self._companions:
            table.add_row(
                Text(short_name(one.companion_id)),
                Text(one.specialization),
                self._status(one),
                Text(one.task_id or ""),
                str(one.succeeded),
                str(one.failed),
                Text(", ".join(one.skills)),
            )
        return table

    def _status(self, one: Companion) -> Text:
        said = status_text(one.status)
        if one.status == "idle" and one.idle_since is not None:
            said += Text(f" for {seconds_text(max(0, self._now - one.idle_since) / 1000)}")
        if one.companion_id not in self._served and one.status != "dismissing":
            said += Text(" (nobody serves it)", "red")
        return said


def session_table(sessions: Iterable[tuple[SessionRow, str]]) -> Table:
    """A row for each session, with when it began."""
    table = Table()
    for name in ("session", "state", "began", "delegated", "closed", "objective"):
        right = name in ("delegated", "closed")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row, began in sessions:
        table.add_row(
            Text(row.session_id),
            status_text(row.head.state),
            Text(began),
            str(row.head.counts.delegated),
            str(row.head.counts.closed),
            Text(cut(row.head.objective, _LONGEST_WHAT)),
        )
    return table


def staff_changes(before: SessionBoard | None, after: SessionBoard) -> Iterator[str]:
    """A line for each companion that came, left, or is lost since."""
    if before is None:
        return
    old, new = before.session.companions, after.session.companions
    for companion_id, one in new.items():
        if companion_id not in old:
            yield f"{companion_id} came: {one.specialization}"
        elif one.status == "lost" and old[companion_id].status != "lost":
            yield f"{companion_id} is lost: {one.reason}"
    for companion_id in old.keys() - new.keys():
        gone = after.session.former.get(companion_id)
        yield f"{companion_id} left: {gone.reason if gone and gone.reason else 'dismissed'}"


def changes(before: SessionBoard | None, after: SessionBoard) -> Iterator[str]:
    """A line for each task that is another than it was, for where no table can be drawn."""
    known = {row.task_id: row for row in before.rows} if before else {}
    for row in after.rows:
        old = known.get(row.task_id)
        if old is None or (old.status, old.companion) != (row.status, row.companion):
            yield row_line(row)
    if before is not None and before.session.state != after.session.state:
        yield f"session {after.session.session_id}: {after.session.state}"


def row_line(row: TaskRow) -> str:
    """One task in one line: ``task-1 "check the parcel": running by companion-a, 0.4 s``."""
    by = f" by {row.companion}" if row.companion else ""
    found = f": {cut(row.found, _LONGEST)}" if row.found else ""
    what = cut(row.what, _LONGEST_WHAT)
    return f"{row.name} {what!r} {row.status}{by}, {seconds_text(row.seconds)}{found}"


def cut(text: str, most: int) -> str:
    """``text`` in one line of at most ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
