"""What was learned from what happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial

from dcf.memory.actor import Actor
from dcf.memory.ledger import Ledger
from dcf.memory.observation import (
    ArrivingObservation,
    NewObservation,
    Observation,
    ObservationRecord,
    Occurrence,
    Origin,
    TakenIn,
)
from dcf.memory.observations.arriving import arrived, take_in
from dcf.memory.observations.changing import (
    Forgotten,
    add,
    forget,
    forgettable,
    observe,
    observe_until,
    pin,
    priced,
)
from dcf.memory.observations.editing import Texts, edit, editable, edited
from dcf.memory.observations.fields import observation_of
from dcf.memory.observations.finding import (
    Filter,
    is_observed,
    named_row,
    newest_rows,
    occurrences_of,
    rows_around,
    rows_behind,
)
from dcf.memory.observations.promoting import Promoted, promotable, promote

_PAGE = 100
"""Observations that are read at once, each with all times that it was seen."""
_FIRST_MS = 86_400_000
"""So long ago began what a memory is told first of a kind of source."""


class Observations:
    """Observations, each of one project. ``Memory.search`` finds them by what they say."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def add(self, *new: NewObservation, by: Actor) -> tuple[Observation, ...]:
        """Keep observations, all or none. One that the same source has said already, in the same
        turn and the same words, is kept once. Raises InvalidEntry with all that is wrong."""
        ready = await asyncio.to_thread(priced, new)
        return await self._ledger.change(by, lambda journal: add(journal, ready))

    async def observe(
        self, source: Origin, event: str, *new: NewObservation, by: Actor
    ) -> tuple[Observation, ...] | None:
        """Keep what was seen in one ``event`` of a source (all of ``new`` are of it), once for each
        event however often this is called: None where it was kept before. What another source has
        said in the same words is kept once and counted. Raises InvalidEntry with all that is
        wrong."""
        ready = await asyncio.to_thread(priced, new)
        return await self._ledger.change(by, lambda journal: observe(journal, source, event, ready))

    async def is_observed(self, source: Origin, event: str) -> bool:
        """Whether the observations of this event are kept."""
        return await self._ledger.read(lambda connection: is_observed(connection, source, event))

    async def observed_until(self, source_type: str, now: int) -> int:
        """Up to when (ms) the events of a kind of source were looked through, ``now`` by its clock.
        A day ago where they never were, or where that clock was ahead when they were."""
        found = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT at FROM observed_until WHERE source_type = ? AND at <= ?",
                (source_type, now),
            ).fetchone()
        )
        return now - _FIRST_MS if found is None else int(found[0])

    async def observe_until(self, source_type: str, at: int, now: int, *, by: Actor) -> None:
        """Note that the events of a kind of source were looked through up to ``at`` (ms), ``now``
        by its clock. Those that were observed long before that come no more, and are known no
        longer."""
        await self._ledger.change(by, lambda journal: observe_until(journal, source_type, at, now))

    async def get(self, observation_id: str) -> Observation:
        """The observation whose id is this or begins with it. Raises UnknownObservation,
        AmbiguousObservation."""
        return await self._ledger.read(
            lambda connection: observation_of(named_row(connection, observation_id))
        )

    async def occurrences(self, observation_id: str, *, limit: int = 20) -> Sequence[Occurrence]:
        """The newest times that an observation was seen, each with what its source alone said. None
        for one that was added as it is."""
        return tuple(
            await self._ledger.read(
                lambda connection: occurrences_of(connection, observation_id, limit)
            )
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

    async def records(self, which: Filter | None = None) -> AsyncIterator[ObservationRecord]:
        """All that ``which`` leaves (None: all), each with every time that it was seen, by their
        ids. What is there from the beginning to the end is in it once; no more than a page is held
        at a time."""
        after = ""
        while True:
            page = await self._ledger.read(partial(rows_behind, which or Filter(), after, _PAGE))
            for row, seen in page:
                yield ObservationRecord(observation_of(row), tuple(seen))
            if len(page) < _PAGE:
                return
            after = page[-1][0]["id"]

    async def take_in(self, *arriving: ArrivingObservation, by: Actor) -> TakenIn:
        """Keep observations that another memory or program has kept, all or none. What is there
        already in the same words is kept once and counted, with the sources of both; who brings the
        same again changes nothing. Raises InvalidEntry with all that is wrong."""
        ready = await asyncio.to_thread(arrived, arriving)
        return await self._ledger.change(by, lambda journal: take_in(journal, ready))

    async def around(
        self, at: int, which: Filter | None = None, *, each: int = 5
    ) -> Sequence[Observation]:
        """What was seen around ``at`` (ms), the oldest first: at most ``each`` until then and
        ``each`` after it, of those that ``which`` leaves (None: all)."""
        rows = await self._ledger.read(
            lambda connection: rows_around(connection, which or Filter(), at, each)
        )
        return tuple(map(observation_of, rows))

    async def forget(self, which: Filter, *, by: Actor, dry_run: bool = False) -> Forgotten:
        """Remove all that ``which`` leaves, in one transaction, but for what is pinned and not
        named by its id; a rollback of its events brings it
        back. Events that were observed stay known, so that no worker adds it again. With
        ``dry_run`` nothing is removed. Raises NothingChosen for a filter that leaves everything,
        InvalidEntry for a topic without a word, UnknownObservation for an id that is not there."""
        if not dry_run:
            return await self._ledger.change(by, lambda journal: forget(journal, which))
        return await self._ledger.read(lambda connection: forgettable(connection, which))

    async def edit(
        self, observation_id: str, texts: Texts, *, by: Actor, dry_run: bool = False
    ) -> Observation:
        """Have an observation say something else; as it is then. A rollback takes it back. A source
        that says again what it said before is counted with it. With ``dry_run`` nothing changes.
        Raises UnknownObservation, AmbiguousObservation, InvalidEntry with all that is wrong,
        RevisionConflict, SameObservation."""
        before = await self.get(observation_id)
        order = await asyncio.to_thread(edited, before, texts)
        if not dry_run:
            return await self._ledger.change(by, lambda journal: edit(journal, order))
        return await self._ledger.read(lambda connection: editable(connection, order))

    async def pin(self, *observation_ids: str, by: Actor) -> tuple[Observation, ...]:
        """Have observations told before others, however old they are, and kept where a filter says
        what is forgotten; all or none. Raises UnknownObservation."""
        return await self._ledger.change(
            by, lambda journal: pin(journal, observation_ids, pinned=True)
        )

    async def unpin(self, *observation_ids: str, by: Actor) -> tuple[Observation, ...]:
        """Have observations told as others are; all or none. Raises UnknownObservation."""
        return await self._ledger.change(
            by, lambda journal: pin(journal, observation_ids, pinned=False)
        )

    async def promote(
        self,
        observation_ids: Sequence[str],
        agent_id: str,
        label: str,
        *,
        by: Actor,
        dry_run: bool = False,
    ) -> Promoted:
        """Have a block say all that observations say, each with its address: its agents are told it
        in whatever project and workflow. All or none, and each once. With ``dry_run`` nothing
        changes. Raises UnknownAgent, UnknownBlock, UnknownObservation, ReadOnlyBlock, and
        OverLimit for what the block does not have room for."""
        if not dry_run:
            return await self._ledger.change(
                by, lambda journal: promote(journal, observation_ids, agent_id, label)
            )
        return await self._ledger.read(
            lambda connection: promotable(connection, observation_ids, agent_id, label)
        )
