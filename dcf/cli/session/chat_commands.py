"""What begins with a slash in a chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.cli.screen import Screen
from dcf.cli.session.conversation import Conversation, refusal
from dcf.cli.session.tables import CompanionTable, TaskTable

COMMANDS: Mapping[str, str] = {
    "/tasks": "the tasks, and why each waits",
    "/companions": "the companions, and what each does",
    "/pause": "give nothing to companions any more",
    "/resume": "give what waits to companions again",
    "/finalize": "end the session when nothing is open any more",
    "/quit": "leave; the session stays",
    "/help": "this",
}


async def run_command(talk: Conversation, line: str, screen: Screen) -> bool:
    """Do what ``line`` says; False to leave."""
    name = line.split()[0]
    if name == "/quit":
        return False
    try:
        for part in await _done(talk, name):
            screen.human.print(part, markup=False)
    except Exception as error:  # refusals alone: others go on
        told = refusal(error)
        if told is None:
            raise
        screen.warn(told)
    return True


async def _done(talk: Conversation, name: str) -> list[Any]:
    """What there is to show of it."""
    if name == "/tasks":
        return [TaskTable(await talk.board())]
    if name == "/companions":
        return [await _companions(talk)]
    if name == "/finalize":
        await talk.finalize()
        return []
    sessions, session_id = talk.desk.sessions, talk.session_id
    if name in ("/pause", "/resume"):
        by = await talk.desk.conductor(session_id)
        if name == "/pause":
            session = await sessions.pause(session_id, by=by)
        else:
            session = await sessions.resume(session_id, by=by)
        return [f"Session {session_id} is {session.state}."]
    known = "\n".join(f"{command:<12} {what}" for command, what in COMMANDS.items())
    return [known if name == "/help" else f"there is no command {name}:\n{known}"]


async def _companions(talk: Conversation) -> Any:
    session = await talk.desk.get(talk.session_id)
    if not session.companions:
        return "No companions yet."
    now, ends = await talk.desk.sessions.seated(tuple(session.companions), talk.session_id)
    served = frozenset(one for one, end in ends.items() if end > now)
    return CompanionTable(session.companions.values(), now, served)
