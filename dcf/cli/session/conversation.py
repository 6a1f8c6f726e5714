"""What is said between a user and a conductor, and what is done meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.opening import Desk
from dcf.cli.trouble import explain_error
from dcf.mcp import Conducting
from dcf.sessions.conductor import Reply

_LOOK_S = 0.2


class Conversation:
    """One session's. ``heard`` is called with each answer, as it comes."""

    def __init__(
        self, desk: Desk, conductor: Conducting, session_id: str, heard: Callable[[Reply], None]
    ) -> None:
        self.desk = desk
        self.conductor = conductor
        self.session_id = session_id
        self.heard = heard
        # A turn and what came meanwhile are told one after the other.
        self._turn = asyncio.Lock()

    async def say(self, text: str, *, request_id: str | None = None) -> Reply:
        """Say something; the answer, which was heard too. Raises SessionProblem."""
        async with self._turn:
            reply = await self.conductor.turn(self.session_id, text, request_id=request_id)
            self.heard(reply)
            return reply

    async def finalize(self) -> Reply:
        """Begin to end the session."""
        async with self._turn:
            reply = await self.conductor.finalize(self.session_id)
            self.heard(reply)
            return reply

    async def attend(self) -> list[Reply]:
        """Let the conductor see to what came since; its answers, which were heard too."""
        async with self._turn:
            replies = await self.conductor.attend(self.session_id)
            for reply in replies:
                self.heard(reply)
            return replies

    async def board(self) -> SessionBoard:
        """The session as it is now."""
        session = await self.desk.get(self.session_id)
        return await read_board(self.desk.sessions, session)

    async def settle(self) -> list[Reply]:
        """Attend until nothing is open any more, or nothing can move since the session is paused;
        what was answered meanwhile. Bound it with ``asyncio.timeout``."""
        told: list[Reply] = []
        while True:
            replies = await self.attend()
            told += replies
            session = await self.desk.get(self.session_id)
            stands = session.state == "paused" and not any(
                task.status == "assigned" for task in session.open_tasks
            )
            if stands or session.is_over or not (session.open_tasks or replies):
                return told
            await asyncio.sleep(_LOOK_S)


def refusal(error: Exception) -> str | None:
    """What to tell the user of an error after which the conversation goes on; None for a defect."""
    trouble = explain_error(error)
    if trouble is None:
        return None
    return f"{trouble.message}; {trouble.hint}" if trouble.hint else trouble.message
