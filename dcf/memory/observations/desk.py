"""What people and models do with observations, whichever way they come in: the command line, MCP.

Observations are named by their ids, the beginnings of those, or their addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING

from dcf.memory.actor import Actor
from dcf.memory.observation import Observation, Occurrence
from dcf.memory.observations.changing import Forgotten
from dcf.memory.observations.choice import ObservationChoice
from dcf.memory.observations.editing import Texts
from dcf.memory.observations.errors import (
    AmbiguousObservation,
    BadChoice,
    IdsAndFilters,
    UnknownObservation,
)
from dcf.memory.observations.finding import Filter
from dcf.memory.observations.promoting import Promoted
from dcf.memory.search.time_span import TIME_EXAMPLES, span_of
from dcf.problem import Problem

if TYPE_CHECKING:
    from dcf.memory.memory import Memory

_ALL = ObservationChoice(days=None)


@dataclass(frozen=True, slots=True)
class ObservationPage:
    """Observations in order; ``scores`` say how well each fits, where something was searched.
    ``more``: there are others behind."""

    observations: tuple[Observation, ...]
    scores: tuple[float, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class ObservationTimeline:
    """What was seen around ``at`` (ms), the oldest first; ``middle`` is the observation that the
    point was, if it was one."""

    at: int
    observations: tuple[Observation, ...]
    middle: Observation | None = None


@dataclass(frozen=True, slots=True)
class ObservationDetails:
    """An observation with the newest times that it was seen."""

    observation: Observation
    seen: tuple[Occurrence, ...]


@dataclass(frozen=True, slots=True)
class ChangedObservations:
    """Observations as they are now, or would be, in order, and as they were. A rollback of
    ``event`` takes the change back; None where it cannot, or there is none."""

    before: tuple[Observation, ...]
    now: tuple[Observation, ...]
    event: int | None = None

    @property
    def is_same(self) -> bool:
        """Whether nothing is to change."""
        return self.before == self.now


@dataclass(frozen=True, slots=True)
class ObservationDesk:
    """Three layers, the cheap one first: a page of what was seen, what was seen around a point, all
    of single ones; and the changes that people make. Each may be tried: then nothing changes."""

    memory: Memory
    zone: tzinfo | None = None
    """Of times that are said without one; None: that of this machine."""

    async def newest(
        self, choice: ObservationChoice, *, limit: int = 50, before: str | None = None
    ) -> ObservationPage:
        """A page, the newest first, from behind ``before``. Raises BadChoice, UnknownObservation,
        AmbiguousObservation."""
        which = self._filter(choice)
        last = None if before is None else (await self.named(before)).id
        found = await self.memory.observations.list(which, limit=limit + 1, before=last)
        return ObservationPage(tuple(found[:limit]), more=len(found) > limit)

    async def search(
        self, query: str, choice: ObservationChoice, *, limit: int = 20
    ) -> ObservationPage:
        """Those that fit a query best; of one without any word the newest. Raises BadChoice,
        InvalidEntry."""
        which = self._filter(choice)
        found = await self.memory.search.find(
            query,
            k=limit,
            kinds=["observation"],
            projects=which.projects or None,
            types=which.types,
            concepts=which.concepts,
            source_types=which.source_types,
            source_ids=which.source_ids,
            workflows=which.workflows,
            turn=which.turn,
            topic=which.topic,
            pinned=which.pinned,
            since=which.since,
            until=which.until,
        )
        ids = [one.ref for one in found]
        there = await self.memory.observations.list(Filter(ids=ids), limit=len(ids)) if ids else ()
        # One may have been forgotten since it was found.
        rows = {one.id: one for one in there}
        kept = [(rows[one.ref], one.score) for one in found if one.ref in rows]
        return ObservationPage(tuple(one for one, _ in kept), tuple(score for _, score in kept))

    async def timeline(
        self, point: str, choice: ObservationChoice = _ALL, *, each: int = 5
    ) -> ObservationTimeline:
        """What was seen around an observation or a time, at most ``each`` before and after it.
        Raises BadChoice, AmbiguousObservation."""
        which = self._filter(choice)
        middle = await self._middle(point)
        at = middle if isinstance(middle, int) else middle.at
        found = await self.memory.observations.around(at, which, each=each)
        return ObservationTimeline(at, tuple(found), None if isinstance(middle, int) else middle)

    async def details(self, names: Sequence[str]) -> tuple[ObservationDetails, ...]:
        """All of some. Raises UnknownObservation, AmbiguousObservation."""
        found = []
        for one in await self._all_named(names):
            seen = await self.memory.observations.occurrences(one.id)
            found.append(ObservationDetails(one, tuple(seen)))
        return tuple(found)

    async def forget(
        self,
        names: Sequence[str],
        choice: ObservationChoice = _ALL,
        *,
        by: Actor,
        dry_run: bool = False,
    ) -> Forgotten:
        """Remove those that are named, or else what ``choice`` leaves. Raises IdsAndFilters for
        both, BadChoice, and what ``Observations.forget`` does; then nothing changed."""
        which = self._filter(choice)
        if names and not which.takes_all:
            raise IdsAndFilters(ids=", ".join(names))
        if names:
            which = Filter(ids=[one.id for one in await self._all_named(names)])
        return await self.memory.observations.forget(which, by=by, dry_run=dry_run)

    async def pin(
        self, names: Sequence[str], *, pinned: bool, by: Actor, dry_run: bool = False
    ) -> ChangedObservations:
        """Pin observations, or take their pins away; all or none. Raises UnknownObservation,
        AmbiguousObservation."""
        before = await self._all_named(names)
        if dry_run:
            to_be = tuple(replace(one, pinned=pinned) for one in before)
            return ChangedObservations(before, to_be)
        change = self.memory.observations.pin if pinned else self.memory.observations.unpin
        return ChangedObservations(before, await change(*(one.id for one in before), by=by))

    async def edit(
        self, name: str, texts: Texts, *, by: Actor, dry_run: bool = False
    ) -> ChangedObservations:
        """Have one say something else. Raises what ``Observations.edit`` does; then nothing
        changed."""
        before = await self.named(name)
        last = await self.memory.events.last()
        now = await self.memory.observations.edit(before.id, texts, by=by, dry_run=dry_run)
        done = [] if dry_run else await self.memory.events.list(limit=5)
        mine = [one.seq for one in done if one.seq > last and one.entity_id == now.id]
        return ChangedObservations((before,), (now,), mine[-1] if mine else None)

    async def promote(
        self,
        names: Sequence[str],
        agent_id: str,
        label: str,
        *,
        by: Actor,
        dry_run: bool = False,
    ) -> Promoted:
        """Have a block of an agent say all of some. Raises what ``Observations.promote`` does; then
        nothing changed."""
        ids = [one.id for one in await self._all_named(names)]
        return await self.memory.observations.promote(ids, agent_id, label, by=by, dry_run=dry_run)

    async def named(self, name: str) -> Observation:
        """The one that is called so. Raises UnknownObservation, AmbiguousObservation."""
        return await self.memory.observations.get(name.rpartition("/")[2])

    async def _all_named(self, names: Sequence[str]) -> tuple[Observation, ...]:
        return tuple([await self.named(one) for one in names])

    async def _middle(self, point: str) -> Observation | int:
        """An id may look like a date without dashes: what is there goes first."""
        try:
            return await self.named(point)
        except (UnknownObservation, AmbiguousObservation) as unknown:
            span = span_of(point, self._now(), self.zone)
            if span is not None:
                return span.first
            if isinstance(unknown, AmbiguousObservation):
                raise
            message = f"{point!r} is no observation that is there, and no time"
            hint = f"an id as rows show it, dcf://observation/ID, or a time as in {TIME_EXAMPLES}"
            problem = Problem("memory_choice_point", message, "/point", hint=hint)
            raise BadChoice("the point", [problem]) from unknown

    def _filter(self, choice: ObservationChoice) -> Filter:
        return choice.filter(self._now(), self.zone)

    def _now(self) -> int:
        return self.memory.ledger.clock()


def way_back(events: Sequence[int]) -> str | None:
    """The command that undoes events that stand one behind the other; None without any."""
    if not events:
        return None
    first, last = events[0], events[-1]
    return f"dcf memory rollback --event {first if first == last else f'{first}-{last}'}"
