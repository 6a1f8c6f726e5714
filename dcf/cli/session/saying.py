"""``dcf session say``: one turn."""

from __future__ import annotations

import asyncio

from rich.markdown import Markdown

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, INTERRUPTED
from dcf.cli.screen import Screen
from dcf.cli.session.attendants import Attendants
from dcf.cli.session.conducting import open_conductor
from dcf.cli.session.conversation import Conversation
from dcf.cli.session.opening import open_desk
from dcf.cli.settings import Settings
from dcf.sessions.conductor import Reply


async def say(
    session_id: str,
    text: str,
    settings: Settings,
    screen: Screen,
    *,
    wait: bool,
    timeout_s: float,
    request_id: str | None,
) -> Answer:
    """Say ``text``; with ``wait`` until nothing that is asked for is open."""
    said: list[Reply] = []

    def heard(reply: Reply) -> None:
        said.append(reply)
        if not screen.as_json:
            show_reply(reply, screen)

    note: ErrorNote | None = None
    exit_code = 0
    async with open_desk(settings, screen) as desk:
        await desk.get(session_id)
        async with open_conductor(session_id, settings, screen) as conductor:
            talk = Conversation(desk, conductor, session_id, heard)
            first = await talk.say(text, request_id=request_id)
            try:
                if wait:
                    async with Attendants(desk, session_id, screen), asyncio.timeout(timeout_s):
                        await talk.settle()
            except TimeoutError:
                note = ErrorNote("not_over", f"not over after {timeout_s:g} s", _more(session_id))
                exit_code = FAILED
            except asyncio.CancelledError:
                note = ErrorNote("interrupted", "stopped waiting", _more(session_id))
                exit_code = INTERRUPTED
        board = await talk.board()
    fields = {
        "session_id": session_id,
        "state": board.session.state,
        "request": first.request,
        "reply": first.to_json(),
        "answers": [one.to_json() for one in said[1:]],
        "open_tasks": [task.task_id for task in board.session.open_tasks],
    }
    status = "ok" if note is None else note.code
    return Answer(fields, status=status, error=note, exit_code=exit_code)


def show_reply(reply: Reply, screen: Screen) -> None:
    """Print an answer: as it is meant on a terminal, as it is written elsewhere."""
    if screen.human.is_terminal:
        # Lines stay lines: Markdown alone would make one paragraph of them.
        screen.human.print(Markdown(reply.text.replace("\n", "  \n"), hyperlinks=False))
    else:
        screen.say(reply.text)


def _more(session_id: str) -> str:
    return f"`dcf session chat {session_id}` goes on, `dcf session tasks {session_id}` shows it"
