"""``dcf session watch``: the rows of a session until it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import Self

from rich.live import Live

from control_plane import Disconnected
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, INTERRUPTED, OK
from dcf.cli.interrupt import heed_interrupt
from dcf.cli.screen import Screen
from dcf.cli.session.attendants import Attendants
from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.opening import Desk, open_desk
from dcf.cli.session.tables import TaskTable, changes, staff_changes
from dcf.cli.settings import Settings

_LOOK_S = 0.2
_AWAY_S = 0.5

Until = Callable[[SessionBoard], Awaitable[bool]]


async def watch_session(
    session_id: str, timeout_s: float | None, settings: Settings, screen: Screen, *, idle: bool
) -> Answer:
    """Watch the session until it is over, with ``idle`` until nothing is open in it."""

    async def done(board: SessionBoard) -> bool:
        return board.session.is_over or (idle and not board.session.open_tasks)

    async with open_desk(settings, screen) as desk:
        await desk.get(session_id)
        try:
            async with Attendants(desk, session_id, screen), asyncio.timeout(timeout_s):
                board = await follow_session(desk, session_id, screen, done)
        except TimeoutError:
            message = f"{session_id} is not over after {timeout_s or 0:g} s"
            return await _left(desk, session_id, "not_over", message, FAILED)
        except asyncio.CancelledError:
            message = f"stopped watching {session_id}"
            return await _left(desk, session_id, "interrupted", message, INTERRUPTED)
    return Answer(_fields(board), status=board.session.state, exit_code=OK)


async def follow_session(desk: Desk, session_id: str, screen: Screen, until: Until) -> SessionBoard:
    """Show the session until ``until`` says so; its last board. A Redis that is away is waited
    for. Raises NoSuch."""
    with _View(screen) as view:
        while True:
            heed_interrupt()
            try:
                session = await desk.get(session_id)
                board = await read_board(desk.sessions, session)
                view.show(board)
                if await until(board):
                    return board
            except Disconnected as error:
                view.note(f"{error}; waiting for it")
                await asyncio.sleep(_AWAY_S)
                continue
            await asyncio.sleep(_LOOK_S)


async def _left(desk: Desk, session_id: str, code: str, message: str, exit_code: int) -> Answer:
    """What becomes of a session that nobody watches any more."""
    board = await read_board(desk.sessions, await desk.get(session_id))
    hint = (
        f"`dcf session watch {session_id}` watches it again; "
        "`dcf up --companions 1` lets its companions work on by themselves"
    )
    note = ErrorNote(code, f"{message}; it stays as it is", hint)
    return Answer(_fields(board), status=board.session.state, error=note, exit_code=exit_code)


def _fields(board: SessionBoard) -> dict[str, object]:
    return {
        "session_id": board.session.session_id,
        "state": board.session.state,
        "tasks": [row.to_json() for row in board.rows],
    }


class _View:
    """A live table on a terminal, otherwise lines and, at the end, the table; without the tasks
    that were over when it began."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._stack = ExitStack()
        self._live: Live | None = None
        self._board: SessionBoard | None = None
        self._note = ""
        self._old: frozenset[str] | None = None

    def __enter__(self) -> Self:
        console = self._screen.human
        if console.is_terminal:
            self._live = self._stack.enter_context(Live(console=console, auto_refresh=False))
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
        if self._live is None and self._board is not None:
            self._screen.human.print(TaskTable(self._board))

    def show(self, board: SessionBoard) -> None:
        """The session as it is now."""
        if self._old is None:
            self._old = frozenset(row.task_id for row in board.rows if not row.task.is_open)
        board = replace(board, rows=[row for row in board.rows if row.task_id not in self._old])
        for line in staff_changes(self._board, board):
            self._screen.say(line)
        if self._live is not None:
            self._live.update(TaskTable(board), refresh=True)
        else:
            for line in changes(self._board, board):
                self._screen.say(line)
        self._board, self._note = board, ""

    def note(self, text: str) -> None:
        """Something about the watching itself."""
        if self._live is not None and self._board is not None:
            self._live.update(TaskTable(self._board, text), refresh=True)
        elif text != self._note:
            self._screen.say(text)
        self._note = text
