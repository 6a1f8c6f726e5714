"""The archives of agents: texts that search finds and no context shows by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from dcf.memory.actor import SYSTEM, Actor
from dcf.memory.ledger import Ledger
from dcf.memory.passage import NewPassage, Passage
from dcf.memory.passages.changing import change_passage, count_reads, delete_passage, insert
from dcf.memory.passages.fields import PassageFields, passage_of
from dcf.memory.passages.finding import passage_row, passage_rows, rows_of_ids


class Passages:
    """Passages, each in the archive of one agent. Others see it only if they ask for that agent."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def insert(self, agent_id: str, *new: NewPassage, by: Actor) -> tuple[Passage, ...]:
        """Add passages, all or none. Raises UnknownAgent, InvalidEntry with all that is wrong."""
        return await self._ledger.change(by, lambda journal: insert(journal, agent_id, new))

    async def get(self, passage_id: str) -> Passage:
        """One passage; that is no read. Raises UnknownPassage."""
        return await self._ledger.read(
            lambda connection: passage_of(passage_row(connection, passage_id))
        )

    async def several(self, passage_ids: Sequence[str]) -> tuple[Passage, ...]:
        """Those of these passages that are there, in this order; that is no read of an agent."""
        rows = await self._ledger.read(lambda connection: rows_of_ids(connection, passage_ids))
        return tuple(map(passage_of, rows))

    async def list(
        self,
        agent_id: str,
        *,
        tags: Sequence[str] = (),
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[Passage, ...]:
        """Passages with all ``tags``, oldest first: at most ``limit``, from behind the passage
        ``after``, which is the last of the page before. Raises UnknownAgent, UnknownPassage."""
        rows = await self._ledger.read(
            lambda connection: passage_rows(
                connection, agent_id, tags=tags, limit=limit, after=after
            )
        )
        return tuple(map(passage_of, rows))

    async def change(
        self, passage_id: str, *, by: Actor, **given: Unpack[PassageFields]
    ) -> Passage:
        """The passage with fields changed. Raises UnknownPassage, InvalidEntry."""
        return await self._ledger.change(
            by, lambda journal: change_passage(journal, passage_id, given)
        )

    async def count_reads(self, passage_ids: Sequence[str]) -> None:
        """Note that these passages were given to an agent. Those that are gone are no error."""
        await self._ledger.change(SYSTEM, lambda journal: count_reads(journal, passage_ids))

    async def delete(self, passage_id: str, *, by: Actor) -> None:
        """Remove a passage. Raises UnknownPassage."""
        await self._ledger.change(by, lambda journal: delete_passage(journal, passage_id))
