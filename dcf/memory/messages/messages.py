"""The messages of agents: added at the end, never changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dcf.memory.actor import Actor
from dcf.memory.agents.finding import agent_row
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.message import Message, NewMessage
from dcf.memory.messages.appending import append
from dcf.memory.messages.archiving import archive
from dcf.memory.messages.errors import UnknownMessage
from dcf.memory.messages.fields import message_of
from dcf.memory.messages.finding import Page, message_rows
from dcf.memory.messages.pricing import priced


class Messages:
    """Conversations by agent. ``seq`` numbers an agent's messages from 1, without gaps but for
    archived ones that were given up, and summaries of consolidations that were rolled back."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def append(
        self,
        agent_id: str,
        *new: NewMessage,
        by: Actor,
        created_at: Sequence[int] | None = None,
    ) -> tuple[Message, ...]:
        """Add messages at the end, all or none. ``created_at`` (ms) is for those that are imported.

        Raises UnknownAgent, InvalidEntry with all that is wrong.
        """
        counted = await asyncio.to_thread(priced, new)
        return await self._ledger.change(
            by, lambda journal: append(journal, agent_id, counted, created_at=created_at)
        )

    async def list(
        self,
        agent_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
        session_id: str | None = None,
        archived: bool | None = None,
    ) -> tuple[Message, ...]:
        """Messages numbered above ``after`` and below ``before``, in order: the first ``limit`` of
        them, or the last if ``newest``. Raises UnknownAgent."""
        page = Page(after, before, limit, newest, session_id, archived)
        rows = await self._ledger.read(lambda connection: message_rows(connection, agent_id, page))
        return tuple(map(message_of, rows))

    async def get(self, agent_id: str, seq: int) -> Message:
        """One message. Raises UnknownAgent, UnknownMessage."""
        page = Page(after=seq - 1, before=seq + 1)
        rows = await self._ledger.read(lambda connection: message_rows(connection, agent_id, page))
        if not rows:
            raise UnknownMessage(agent_id=agent_id, seq=seq)
        return message_of(rows[0])

    async def count(self, agent_id: str) -> int:
        """How many there are. Raises UnknownAgent."""

        def work(connection: Connection) -> int:
            agent_row(connection, agent_id)
            row = connection.execute(
                "SELECT count(*) FROM messages WHERE agent_id = ?", (agent_id,)
            ).fetchone()
            return int(row[0])

        return await self._ledger.read(work)

    async def archive(self, agent_id: str, first: int, last: int, *, by: Actor) -> int:
        """Move the messages numbered ``first`` to ``last`` out of the context; how many were in it.
        They stay in the list and in search. Raises UnknownAgent."""
        return await self._ledger.change(
            by, lambda journal: archive(journal, agent_id, first, last)
        )
