"""A chat on a terminal: the line that is typed, live rows below it, answers above it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Coroutine
from typing import Any, TypeVar

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.styles import Style

from control_plane import Disconnected
from dcf.cli.board_table import seconds_text
from dcf.cli.screen import Screen
from dcf.cli.session.board import SessionBoard, TaskRow
from dcf.cli.session.chat_commands import COMMANDS, run_command
from dcf.cli.session.conversation import Conversation, refusal
from dcf.cli.session.tables import cut
from dcf.cli.visible import visible
from dcf.stopping import stop

T = TypeVar("T")

_LOOK_S = 0.3
_MOST_ROWS = 8
_MOMENT_MS = 5_000
_LAST = 3
_STYLE = Style.from_dict(
    {
        "bottom-toolbar": "noreverse",
        "head": "bold",
        "running": "fg:ansiyellow bold",
        "queued": "fg:ansicyan",
        "succeeded": "fg:ansigreen",
        "failed": "fg:ansired bold",
    }
)
_GROUPS = {"ready": "queued", "assigned": "running", "partial": "running", "cancelled": "queued"}


class _Below:
    """What stands below the line: the session, and its tasks. Closed ones make room first."""

    def __init__(self) -> None:
        self.board: SessionBoard | None = None
        self.away = ""
        self.note = ""
        self.thinks = False

    def text(self) -> StyleAndTextTuples:
        """As prompt_toolkit draws it."""
        if self.board is None:
            return [("class:head", "…")]
        width = shutil.get_terminal_size().columns - 1
        session = self.board.session
        said = self.away or self.note or self.board.gist
        thinks = "; the conductor thinks …" if self.thinks else ""
        head = f"{session.session_id} {session.state}: {said}{thinks}"
        parts: StyleAndTextTuples = [("class:head", visible(cut(head, width)))]
        for row in live_rows(self.board):
            parts += [("", "\n"), (f"class:{_class(row)}", visible(cut(_line(row), width)))]
        return parts


async def live_chat(talk: Conversation, screen: Screen) -> None:
    """Talk until the user leaves or the session is over. The line is there at once again while the
    conductor thinks about the last one, and what was said is answered before the end."""
    below = _Below()
    lines: asyncio.Queue[str] = asyncio.Queue()
    prompt: PromptSession[str] = PromptSession(
        "> ",
        style=_STYLE,
        bottom_toolbar=below.text,
        completer=WordCompleter(list(COMMANDS), meta_dict=dict(COMMANDS), sentence=True),
        complete_while_typing=False,
    )
    screen.say(f"Session {talk.session_id}. /help shows the commands; Ctrl-D leaves.", "dim")
    with patch_stdout(raw=True):
        beside = [
            asyncio.create_task(_rows(talk, below, prompt)),
            asyncio.create_task(_attend(talk, below)),
            asyncio.create_task(_answers(talk, lines, below, screen)),
        ]
        try:
            while (line := await _first(_line_of(prompt), beside)) is not None:
                text = line.strip()
                if text.startswith("/"):
                    if not await run_command(talk, text, screen):
                        break
                elif text:
                    lines.put_nowait(text)
            await _first(lines.join(), beside)
        finally:
            await stop(*beside)


async def _first(wanted: Coroutine[Any, Any, T], beside: list[asyncio.Task[None]]) -> T | None:
    """What ``wanted`` gives, or None if one of those beside it is over before. Raises what that one
    raised."""
    task = asyncio.create_task(wanted)
    try:
        await asyncio.wait([task, *beside], return_when=asyncio.FIRST_COMPLETED)
        for other in beside:
            if other.done():
                other.result()
        return task.result() if task.done() else None
    finally:
        await stop(task)


async def _line_of(prompt: PromptSession[str]) -> str | None:
    """The line that is typed; None after Ctrl-D or Ctrl-C."""
    try:
        return await prompt.prompt_async()
    except (EOFError, KeyboardInterrupt):
        # The latter would end the event loop, were it to leave this task.
        return None


async def _answers(
    talk: Conversation, lines: asyncio.Queue[str], below: _Below, screen: Screen
) -> None:
    """Have each line answered, one after the other."""
    while True:
        text = await lines.get()
        below.thinks = True
        try:
            await talk.say(text)
        except Exception as error:  # refusals alone: others go on
            told = refusal(error)
            if told is None:
                raise
            screen.warn(told)
        finally:
            below.thinks = False
            lines.task_done()


async def _attend(talk: Conversation, below: _Below) -> None:
    """Let the conductor see to what came."""
    while True:
        try:
            await talk.attend()
            below.note = ""
        except Exception as error:  # refusals alone: others go on
            told = refusal(error)
            if told is None:
                raise
            below.note = told
        await asyncio.sleep(_LOOK_S)


async def _rows(talk: Conversation, below: _Below, prompt: PromptSession[str]) -> None:
    """Show the rows as they are, until the session is over."""
    while True:
        try:
            below.board, below.away = await talk.board(), ""
        except Disconnected as away:
            below.away = f"{away}; waiting for it"
        prompt.app.invalidate()
        if below.board is not None and below.board.session.is_over:
            return
        await asyncio.sleep(_LOOK_S)


def live_rows(board: SessionBoard) -> list[TaskRow]:
    """The rows of what is open, and as far as there is room of what was closed a moment ago, or
    last."""
    rows = [row for row in board.rows if row.task.is_open and row.task.kind != "group"][:_MOST_ROWS]
    closed = [row for row in board.rows if not row.task.is_open]
    closed.sort(key=lambda row: row.task.finished_at or 0)
    fresh = sum(board.now - (row.task.finished_at or 0) < _MOMENT_MS for row in closed)
    room = min(_MOST_ROWS - len(rows), max(fresh, _LAST))
    return [*(closed[-room:] if room > 0 else []), *rows]


def _class(row: TaskRow) -> str:
    word = row.status.partition(" ")[0]
    return _GROUPS.get(word, word)


def _line(row: TaskRow) -> str:
    by = f" {row.companion}" if row.companion else ""
    found = f" – {row.found}" if row.found else ""
    number = "" if row.number is None else f"{row.number} "
    what = f"{number}{cut(row.what, 40)}"
    return f"{row.status:<10}{seconds_text(row.seconds):>8}  {what}{by}{found}"
