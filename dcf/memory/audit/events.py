"""The record of all changes: what was done, by whom and why, and the way back."""

from __future__ import annotations

from dcf.memory.actor import Actor
from dcf.memory.audit.event import Event
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.audit.journal import Journal
from dcf.memory.audit.past_text import text_at
from dcf.memory.audit.rollback import roll_back
from dcf.memory.audit.scope import of_agent, of_block, of_consolidation
from dcf.memory.ledger import Ledger


class Events:
    """Every change of anything in the memory. A rollback is a change too, and can be rolled
    back. Rollbacks return the events that record them, none if there was nothing to undo, and raise
    RollbackRefused with everything that stands in the way."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def list(
        self,
        *,
        agent_id: str | None = None,
        label: str | None = None,
        block_id: str | None = None,
        operation: str | None = None,
        consolidation_id: str | None = None,
        since: int | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> tuple[Event, ...]:
        """Events, newest first. ``since`` is in ms since the epoch; ``before`` is the ``seq`` of
        the last event of the page before."""
        query = Query(
            agent_id=agent_id,
            label=label,
            entity=None if block_id is None else "block",
            entity_id=block_id,
            operation=operation,
            consolidation_id=consolidation_id,
            since=since,
            before=before,
        )
        return await self._ledger.read(
            lambda connection: tuple(newest_first(connection, query, limit=limit))
        )

    async def last(self) -> int:
        """The number of the newest event; 0 if there is none. A rollback to it undoes whatever
        comes now."""
        return await self._ledger.read(
            lambda connection: int(
                connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
            )
        )

    async def text(self, block_id: str, seq: int) -> str | None:
        """The block's text just after event ``seq``; None if there was no such block then."""
        return await self._ledger.read(lambda connection: text_at(connection, block_id, seq))

    async def roll_back_block(self, block_id: str, seq: int, *, by: Actor) -> tuple[Event, ...]:
        """Make the block, and who holds it, what it was just after event ``seq``."""
        return await self._ledger.change(
            by, lambda journal: _rolled_back(journal, of_block(journal.connection, block_id, seq))
        )

    async def roll_back_agent(self, agent_id: str, seq: int, *, by: Actor) -> tuple[Event, ...]:
        """Undo all that was done to or through the agent after event ``seq``; a deleted agent comes
        back. What others did to blocks that it holds too is left alone."""
        return await self._ledger.change(
            by, lambda journal: _rolled_back(journal, of_agent(journal.connection, agent_id, seq))
        )

    async def roll_back_consolidation(
        self, consolidation_id: str, *, by: Actor, seq: int = 0
    ) -> tuple[Event, ...]:
        """Undo what a consolidation did after event ``seq`` (0: all of it)."""
        return await self._ledger.change(
            by,
            lambda journal: _rolled_back(
                journal, of_consolidation(journal.connection, consolidation_id, seq)
            ),
        )


def _rolled_back(journal: Journal, undone: list[Event]) -> tuple[Event, ...]:
    roll_back(journal, undone)
    return tuple(journal.noted)
