"""What is said between a user and a conductor, and what is done meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.opening import Desk
from dcf.cli.session.overhearing import Overhearing, Said
from dcf.cli.trouble import explain_error
from dcf.mcp import Conducting
from dcf.sessions import Session
from dcf.sessions.conductor import Book, Reply, shown

_LOOK_S = 0.2


class Conversation:
    """One session's. ``heard`` is called with each answer, as it comes, also where another process
    was told it first; ``overheard`` with what others say and are told."""

    def __init__(
        self,
        desk: Desk,
        conductor: Conducting,
        session_id: str,
        heard: Callable[[Reply], None],
        overheard: Callable[[Said], None] | None = None,
    ) -> None:
        self.desk = desk
        self.conductor = conductor
        self.session_id = session_id
        self._heard = heard
        self._overheard = overheard
        self._others = Overhearing(desk.sessions, session_id)
        # A turn and what came meanwhile are told one after the other.
        self._turn = asyncio.Lock()

    async def say(self, text: str, *, request_id: str | None = None) -> Reply:
        """Say something; the answer, which was heard too. What was said before under the same id is
        heard to its end, as far as it is known. Raises SessionProblem."""
        async with self._turn:
            await self._others.begin()
            reply = await self.conductor.turn(self.session_id, text, request_id=request_id)
            self._others.asked(reply.request)
            self._hear(reply)
            if not reply.is_last:
                last = await self.conductor.answer(self.session_id, reply.request)
                if last is not None:
                    self._hear(last)
            return reply

    async def finalize(self) -> Reply:
        """Begin to end the session."""
        async with self._turn:
            await self._others.begin()
            reply = await self.conductor.finalize(self.session_id)
            self._others.asked(reply.request)
            self._hear(reply)
            return reply

    async def attend(self) -> list[Reply]:
        """Let the conductor see to what came since; its answers, which were heard too."""
        async with self._turn:
            await self._others.begin()
            replies = await self.conductor.attend(self.session_id)
            for reply in replies:
                self._others.heard(reply)
            try:
                # What others asked for comes before what came of it.
                await self._others.read()
                while self._others.news:
                    await self._catch_up(self._others.news[0])
                    self._others.news.popleft()
            finally:
                for reply in replies:
                    self._heard(reply)
            return replies

    def listen_to(self, requests: Collection[str]) -> None:
        """Hear what comes of these, too, as of what was said here."""
        for request in requests:
            self._others.asked(request)

    async def board(self) -> SessionBoard:
        """The session as it is now."""
        session = await self.desk.get(self.session_id)
        return await read_board(self.desk.sessions, session)

    async def settle(self, requests: Collection[str] = ()) -> None:
        """Attend until nothing is open any more, or nothing can move since the session is paused;
        where ``requests`` are named until nothing of these moves. Bound it with
        ``asyncio.timeout``."""
        while True:
            replies = await self.attend()
            session = await self.desk.get(self.session_id)
            stands = session.state == "paused" and not any(
                task.status == "assigned" for task in session.open_tasks
            )
            if stands or session.is_over:
                break
            if requests:
                moves = [await self._moves(session, one) for one in requests]
                if not any(moves):
                    break
            elif not (session.open_tasks or replies):
                break
            await asyncio.sleep(_LOOK_S)
        # What moved it last may have been told to another process since.
        await self.attend()

    async def _moves(self, session: Session, request_id: str) -> bool:
        """Whether more comes of a request without the user's doing."""
        request = Book(session.requests).find(request_id)
        if request is None:
            return await self.conductor.answer(self.session_id, request_id) is None
        if not request.is_open:
            return False
        if any(item.status == "open" for item in request.items):
            return True
        # What is held may wait for a task of another request.
        asked = any(item.status == "asked" for item in request.items)
        return not asked and bool(session.open_tasks)

    def _hear(self, reply: Reply) -> None:
        self._others.heard(reply)
        self._heard(reply)

    async def _catch_up(self, said: Said) -> None:
        """Hear what another process was told."""
        if said.role == "conductor" and self._others.is_ours(said.request):
            last = await self.conductor.answer(self.session_id, said.request)
            is_last = last is not None and shown(last.text) == said.text
            self._hear(last if is_last and last is not None else Reply(said.request, said.text))
        elif self._overheard is not None:
            self._overheard(said)


def refusal(error: Exception) -> str | None:
    """What to tell the user of an error after which the conversation goes on; None for a defect."""
    trouble = explain_error(error)
    if trouble is None:
        return None
    return f"{trouble.message}; {trouble.hint}" if trouble.hint else trouble.message
