"""Watching a run to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from rich.live import Live

from control_plane import Disconnected, Store, history
from dcf.cli.board import Board, read_board, with_holders
from dcf.cli.board_table import board_table, changes
from dcf.cli.children import Children
from dcf.cli.interrupt import heed_interrupt
from dcf.cli.screen import Screen
from dcf.workflow import read_timeline

_LOOK_S = 0.1
_AWAY_S = 0.5
_LONGEST_HISTORY = 5_000
_OVER = frozenset({"succeeded", "failed", "timed_out", "cancelled"})

Tick = Callable[[Board], Awaitable[str]]
"""Called at each look with the board; answers with a note to show below the table."""


async def follow(store: Store, workflow_id: str, screen: Screen, tick: Tick) -> Board:
    """Show the run until it is over; its last board. A Redis that is away is waited for.

    Raises UnknownRun. Bound it with ``asyncio.timeout``.
    """
    inside = Children()
    with _View(screen) as view:
        while True:
            heed_interrupt()
            try:
                board = await read_board(store, workflow_id, inside)
                view.show(board, await tick(board))
            except Disconnected as error:
                view.note(f"{error}; waiting for it")
                await asyncio.sleep(_AWAY_S)
                continue
            if board.status in _OVER:
                board = await _credit(store, board)
                view.show(board, "")
                return board
            await asyncio.sleep(_LOOK_S)


async def _credit(store: Store, board: Board) -> Board:
    """With who did what, from the history, unless that is long."""
    stream = store.keys(board.workflow_id).history
    try:
        if int(await store.backend.command("XLEN", stream)) > _LONGEST_HISTORY:
            return board
        timeline = await read_timeline(history.read(store, board.workflow_id))
    except Disconnected:
        return board
    return with_holders(board, timeline.holders)


async def only_watch(board: Board) -> str:
    """A tick that does nothing but tell what waits for a person."""
    return "\n".join(board.questions)


class _View:
    """A live table on a terminal, otherwise lines and, at the end, the table."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._stack = ExitStack()
        self._live: Live | None = None
        self._board: Board | None = None
        self._note = ""

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
            self._screen.human.print(board_table(self._board))

    def show(self, board: Board, note: str) -> None:
        """The run as it is now."""
        if self._live is not None:
            self._live.update(board_table(board, note), refresh=True)
        else:
            for line in changes(self._board, board):
                self._screen.say(line)
            if note != self._note and note:
                self._screen.say(note)
        self._board, self._note = board, note

    def note(self, text: str) -> None:
        """Something about the watching itself."""
        if self._live is not None and self._board is not None:
            self._live.update(board_table(self._board, text), refresh=True)
        elif text != self._note:
            self._screen.say(text)
        self._note = text
