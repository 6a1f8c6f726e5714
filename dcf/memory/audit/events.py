"""The record of all changes: what was done, by whom and why, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcf.memory.actor import Actor
from dcf.memory.audit.border import border_of
from dcf.memory.audit.consolidations import mark_rolled_back
from dcf.memory.audit.event import Event
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.audit.journal import Journal
from dcf.memory.audit.past_text import text_at
from dcf.memory.audit.rollback import roll_back
from dcf.memory.audit.scope import of_agent, of_block, of_consolidation, of_numbers, of_project
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger


class Events:
    """Every change of anything in the memory. A rollback is a change too, and can be rolled
    back. Rollbacks return the events that record them, none if there was nothing to undo, and raise
    RollbackRefused with everything that stands in the way, and HistoryForgotten where it would need
    events that were given up. With ``dry_run`` nothing is kept: the
    events say what would be done, under numbers that others will have."""

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
                connection.execute(
                    "SELECT max((SELECT coalesce(max(seq), 0) FROM events),"
                    " (SELECT seq FROM history_border))"
                ).fetchone()[0]
            )
        )

    async def border(self) -> int:
        """The newest event that was given up, 0 if none was: nothing goes back beyond it."""
        return await self._ledger.read(border_of)

    async def text(self, block_id: str, seq: int) -> str | None:
        """The block's text just after event ``seq``; None if there was no such block then.
        Raises HistoryForgotten."""
        return await self._ledger.read(lambda connection: text_at(connection, block_id, seq))

    async def roll_back_block(
        self, block_id: str, seq: int, *, by: Actor, dry_run: bool = False
    ) -> tuple[Event, ...]:
        """Make the block, and who holds it, what it was just after event ``seq``."""
        return await self._go_back(
            lambda connection: of_block(connection, block_id, seq), by, dry_run
        )

    async def roll_back_agent(
        self, agent_id: str, seq: int, *, by: Actor, dry_run: bool = False
    ) -> tuple[Event, ...]:
        """Undo all that was done to or through the agent after event ``seq``; a deleted agent comes
        back. What others did to blocks that it holds too is left alone."""
        return await self._go_back(
            lambda connection: of_agent(connection, agent_id, seq), by, dry_run
        )

    async def roll_back_project(
        self, project_id: str, seq: int, *, by: Actor, dry_run: bool = False
    ) -> tuple[Event, ...]:
        """Make the project, which blocks it has, who works in it, and the blocks of its own, what
        they were just after event ``seq``; a deleted project comes back. The texts of ``shared``
        blocks are left alone."""
        return await self._go_back(
            lambda connection: of_project(connection, project_id, seq), by, dry_run
        )

    async def roll_back_consolidation(
        self, consolidation_id: str, *, by: Actor, seq: int = 0, dry_run: bool = False
    ) -> tuple[Event, ...]:
        """Undo what a consolidation did after event ``seq`` (0: all of it, and its session is
        ``rolled_back``)."""
        at = self._ledger.clock()
        return await self._go_back(
            lambda connection: _of_session(connection, consolidation_id, seq, at), by, dry_run
        )

    async def undo(self, *seqs: int, by: Actor, dry_run: bool = False) -> tuple[Event, ...]:
        """Undo the events with these numbers and no other. Later changes of the same rows stay,
        and refuse it where they touch the same."""
        return await self._go_back(lambda connection: of_numbers(connection, seqs), by, dry_run)

    async def _go_back(
        self, undone: Callable[[Connection], Sequence[Event]], by: Actor, dry_run: bool
    ) -> tuple[Event, ...]:
        def work(journal: Journal) -> tuple[Event, ...]:
            roll_back(journal, undone(journal.connection))
            if dry_run:
                raise _Tried(tuple(journal.noted))
            return tuple(journal.noted)

        try:
            return await self._ledger.change(by, work)
        except _Tried as tried:
            return tried.events


def _of_session(connection: Connection, session_id: str, seq: int, at: int) -> list[Event]:
    if seq == 0:
        mark_rolled_back(connection, session_id, at)
    return of_consolidation(connection, session_id, seq)


class _Tried(Exception):
    """Ends the transaction of a rollback that was only tried, with what it would have done."""

    def __init__(self, events: tuple[Event, ...]) -> None:
        self.events = events
        super().__init__()
