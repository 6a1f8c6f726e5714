"""What was learned from what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dcf.memory.actor import Actor
from dcf.memory.ledger import Ledger
from dcf.memory.observation import NewObservation, Observation
from dcf.memory.observations.changing import add, delete, priced
from dcf.memory.observations.fields import observation_of
from dcf.memory.observations.finding import Filter, newest_rows, observation_row


class Observations:
    """Observations, each of one project. ``Memory.search`` finds them by what they say."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def add(self, *new: NewObservation, by: Actor) -> tuple[Observation, ...]:
        """Keep observations, all or none. One that the same source has said already, in the same
        turn and the same words, is kept once. Raises InvalidEntry with all that is wrong."""
        ready = await asyncio.to_thread(priced, new)
        return await self._ledger.change(by, lambda journal: add(journal, ready))

    async def get(self, observation_id: str) -> Observation:
        """One observation. Raises UnknownObservation."""
        return await self._ledger.read(
            lambda connection: observation_of(observation_row(connection, observation_id))
        )

    async def list(
        self, which: Filter | None = None, *, limit: int = 50, before: str | None = None
    ) -> Sequence[Observation]:
        """The newest that ``which`` leaves (None: all), at most ``limit``, from behind ``before``,
        the last of the page before. Raises UnknownObservation."""
        rows = await self._ledger.read(
            lambda connection: newest_rows(
                connection, which or Filter(), limit=limit, before=before
            )
        )
        return tuple(map(observation_of, rows))

    async def delete(self, observation_id: str, *, by: Actor) -> None:
        """Remove an observation; a rollback brings it back. Raises UnknownObservation."""
        await self._ledger.change(by, lambda journal: delete(journal, observation_id))
