"""The archives of agents: texts that search finds and no context shows by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from dcf.memory.actor import SYSTEM, Actor
from dcf.memory.ledger import Ledger
from dcf.memory.passage import NewPassage, Passage
from dcf.memory.passages.changing import (
    change_passage,
    count_reads,
    delete_passage,
    delete_passages,
    insert,
    keep,
)
from dcf.memory.passages.fields import PassageFields, passage_of
from dcf.memory.passages.finding import deleted_ids, passage_row, passage_rows, rows_of_ids


class Passages:
    """Passages, each in the archive of one agent. Others see it only if they ask for that agent."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def insert(self, agent_id: str, *new: NewPassage, by: Actor) -> tuple[Passage, ...]:
        """Add passages, all or none. Raises UnknownAgent, InvalidEntry with all that is wrong."""
        return await self._ledger.change(by, lambda journal: insert(journal, agent_id, new))

    async def keep(
        self, agent_id: str, passages: Sequence[Passage], *, by: Actor, again: str | None = None
    ) -> Mapping[str, Passage | None]:
        """Add passages of another archive under the ids and times that they have, all or none, also
        those that were deleted for the reason ``again``. What was left alone, by its id: the
        passage that is there, None for one that was deleted, as far as history goes back. Raises
        UnknownAgent, InvalidEntry with all that is wrong."""
        return await self._ledger.change(
            by, lambda journal: keep(journal, agent_id, passages, again)
        )

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
        without: Sequence[str] = (),
        limit: int = 100,
        after: str | Passage | None = None,
    ) -> tuple[Passage, ...]:
        """Passages with all ``tags`` and none of ``without``, oldest first: at most ``limit``, from
        behind the passage ``after``, the last of the page before: its id, or itself where it may be
        gone by now. Raises UnknownAgent, UnknownPassage."""
        rows = await self._ledger.read(
            lambda connection: passage_rows(
                connection, agent_id, tags=tags, without=without, limit=limit, after=after
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

    async def delete_several(self, agent_id: str, passage_ids: Sequence[str], *, by: Actor) -> int:
        """Remove those of an agent's passages that are there; how many they were."""
        return await self._ledger.change(
            by, lambda journal: delete_passages(journal, agent_id, passage_ids)
        )

    async def deleted(self, agent_id: str, *, but: str | None = None) -> tuple[str, ...]:
        """Ids of an agent's passages that are gone, as far as history goes back, but those that
        were deleted for the reason ``but``."""
        return tuple(
            await self._ledger.read(lambda connection: deleted_ids(connection, agent_id, but))
        )
