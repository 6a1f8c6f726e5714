"""``dcf session chat``: a conversation with a conductor whose companions work meanwhile."""

from __future__ import annotations

import asyncio
from typing import TextIO

from control_plane import host_signs
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.asking import at_terminal
from dcf.cli.exits import FAILED, INTERRUPTED, OK
from dcf.cli.screen import Screen
from dcf.cli.session.attendants import Attendants
from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.chat_commands import COMMANDS, run_command
from dcf.cli.session.conducting import open_conductor
from dcf.cli.session.conversation import Conversation, refusal
from dcf.cli.session.opening import Desk, open_desk
from dcf.cli.session.overhearing import Said
from dcf.cli.session.reply_text import show_text
from dcf.cli.session.stdin_lines import lines_of
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.sessions.conductor import Reply


async def chat(session_id: str, settings: Settings, screen: Screen, source: TextIO) -> Answer:
    """Talk until the user, the input or the session ends."""
    said: list[Reply] = []

    def heard(reply: Reply) -> None:
        said.append(reply)
        if not screen.as_json:
            show_text(reply.text, screen)

    def overheard(other: Said) -> None:
        if screen.as_json:
            return
        screen.say(f"{'somebody else' if other.role == 'user' else 'to somebody else'}:", "dim")
        show_text(other.text, screen)

    interrupted, refused = False, 0
    async with open_desk(settings, screen) as desk:
        await desk.get(session_id)
        try:
            async with (
                open_conductor(session_id, settings, screen) as conductor,
                Attendants(desk, session_id, screen),
            ):
                talk = Conversation(desk, conductor, session_id, heard, overheard)
                if at_terminal(screen):
                    from dcf.cli.session.live_chat import live_chat

                    await live_chat(talk, screen)
                else:
                    refused = await _read_out(talk, screen, source)
        except asyncio.CancelledError:
            # Ctrl-C, also where the companions are being served and nothing was said yet.
            interrupted = True
        board = await read_board(desk.sessions, await desk.get(session_id))
        return await _end(desk, board, said, interrupted=interrupted, refused=refused)


async def _read_out(talk: Conversation, screen: Screen, source: TextIO) -> int:
    """Each line is a turn; the next is taken when nothing is open any more. How many lines were
    refused."""
    refused = 0
    # What was open before is seen to first: an answer may be waited for.
    await talk.settle()
    async for line in lines_of(source):
        text = line.strip()
        if not text:
            continue
        if not screen.as_json:
            screen.say(f"> {text}", "bold")
        if text.split()[0] in COMMANDS:
            if not await run_command(talk, text, screen):
                return refused
        else:
            try:
                await talk.say(text)
            except Exception as error:  # refusals alone: others go on
                told = refusal(error)
                if told is None:
                    raise
                screen.warn(told)
                refused += 1
        await talk.settle()
        if (await talk.board()).session.is_over:
            return refused
    return refused


async def _end(
    desk: Desk, board: SessionBoard, said: list[Reply], *, interrupted: bool, refused: int
) -> Answer:
    """How it stands, and how it goes on."""
    session = board.session
    fields = {
        "session_id": session.session_id,
        "state": session.state,
        "replies": [reply.to_json() for reply in said],
        "open_tasks": [task.task_id for task in session.open_tasks],
        "refused": refused,
    }
    if session.is_over:
        further = f"`dcf session archive {session.session_id}` keeps all of it"
        show = [f"Session {session.session_id} is {session.state}; {further}"]
        return Answer(fields, show, exit_code=FAILED if refused else OK)
    further = f"`dcf session chat {session.session_id}` goes on"
    if session.open_tasks:
        hosts = await host_signs.living_hosts(desk.sessions.backend)
        left = counted(len(session.open_tasks), "task is", "tasks are")
        fate = "companions work on" if hosts else "`dcf up --companions 1` works on them meanwhile"
        further = f"{left} open, {fate}; {further}"
    if not interrupted:
        show = [f"Session {session.session_id} is {session.state}: {further}"]
        return Answer(fields, show, exit_code=FAILED if refused else OK)
    note = ErrorNote("interrupted", f"stopped talking with {session.session_id}", further)
    return Answer(fields, status="interrupted", error=note, exit_code=INTERRUPTED)
