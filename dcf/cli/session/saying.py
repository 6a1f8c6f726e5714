"""``dcf session say``: one turn."""

from __future__ import annotations

import asyncio

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, INTERRUPTED
from dcf.cli.screen import Screen
from dcf.cli.session.attendants import Attendants
from dcf.cli.session.conducting import open_conductor
from dcf.cli.session.conversation import Conversation
from dcf.cli.session.opening import open_desk
from dcf.cli.session.outcome import Outcome, outcome_of, requests_of
from dcf.cli.session.reply_text import show_text
from dcf.cli.session.serving import who_serves
from dcf.cli.session.tables import cut
from dcf.cli.settings import Settings
from dcf.sessions.conductor import Reply

_LONGEST = 120
"""Characters of a question in an error, which was told in full before."""


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
    """Say ``text``; with ``wait`` until nothing that is asked for moves any more, which fails where
    a task failed or the conductor asks back."""
    said: list[Reply] = []

    def heard(reply: Reply) -> None:
        said.append(reply)
        if not screen.as_json:
            show_text(reply.text, screen)

    note: ErrorNote | None = None
    exit_code = 0
    async with open_desk(settings, screen) as desk:
        await desk.get(session_id)
        async with open_conductor(session_id, settings, screen) as conductor:
            talk = Conversation(desk, conductor, session_id, heard)
            first = await talk.say(text, request_id=request_id)
            requests = requests_of(await desk.get(session_id), first)
            talk.listen_to(requests)
            try:
                if wait:
                    async with Attendants(desk, session_id, screen), asyncio.timeout(timeout_s):
                        await talk.settle(requests)
            except TimeoutError:
                note = ErrorNote("not_over", f"not over after {timeout_s:g} s", _more(session_id))
                exit_code = FAILED
            except asyncio.CancelledError:
                note = ErrorNote("interrupted", "stopped waiting", _more(session_id))
                exit_code = INTERRUPTED
            board = await talk.board()
            outcome = await outcome_of(board.session, conductor, requests)
        if wait and note is None and (note := _trouble(session_id, outcome)) is not None:
            exit_code = FAILED
        unserved = None if wait else await who_serves(desk, board)
    fields = {
        "session_id": session_id,
        "state": board.session.state,
        "request": first.request,
        "reply": first.to_json(),
        "answers": [one.to_json() for one in said[1:]],
        "failed": list(outcome.failed),
        "questions": list(outcome.questions),
        "open_tasks": [task.task_id for task in board.session.open_tasks],
    }
    status = "ok" if note is None else note.code
    show = [] if unserved is None else [unserved]
    return Answer(fields, show, status=status, error=note, exit_code=exit_code)


def _trouble(session_id: str, outcome: Outcome) -> ErrorNote | None:
    """What keeps a request from being done; None when it is."""
    if outcome.failed:
        failed = ", ".join(outcome.failed)
        hint = f"`dcf session task {session_id} {outcome.failed[0]}` says more"
        return ErrorNote("task_failed", f"failed: {failed}", hint)
    if outcome.questions:
        asked = "; ".join(cut(question, _LONGEST) for question in outcome.questions)
        hint = f"answer with `dcf session say {session_id} …`"
        return ErrorNote("asked_back", f"the conductor asks: {asked}", hint)
    return None


def _more(session_id: str) -> str:
    return f"`dcf session chat {session_id}` goes on, `dcf session tasks {session_id}` shows it"
