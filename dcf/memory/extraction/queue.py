"""The queue of events whose observations a model is to find. It is in the memory file: what is in
it survives every process, and each event yields its observations once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from dcf.memory.actor import Actor
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.extraction import claims
from dcf.memory.extraction.claims import Claim, Kind, NewEvent, Offered
from dcf.memory.extraction.spending import count_from_now
from dcf.memory.extraction.standing import Standing, resume, standing_of
from dcf.memory.ledger import Ledger
from dcf.memory.observation import NewObservation, Observation
from dcf.memory.observations.changing import priced

MOST = 1_000
"""Events that are open at a time, unless something else is said."""
FAILURES = 3
"""Answers about one event that cannot be used before it is set aside."""
BEGUN = 10
"""How often an event is begun without an end before it is set aside."""
LEASE_MS = 60_000


@dataclass(frozen=True, slots=True)
class QueuedEvent:
    """An event in the queue. ``reason`` is why it was set aside, or what kept it from being done
    last; ``failures`` are answers that could not be used, ``begun`` how often somebody began."""

    number: int
    source_type: str
    source_id: str
    event: str
    project: str
    state: str
    begun: int
    failures: int
    reason: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Events by what is known of them; ``found`` are the observations of those that are done.
    ``due`` is when the next one that waits may be taken, None where none waits."""

    waiting: int
    claimed: int
    done: int
    set_aside: int
    found: int
    due: int | None


class ExtractionQueue:
    """At most ``most`` events are open at a time; others are refused and counted. Events are
    claimed of one kind only, if that is said."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        most: int = MOST,
        lease_ms: int = LEASE_MS,
        of: Kind | None = None,
    ) -> None:
        self.ledger = ledger
        self._of = of
        self.most = most
        self.lease_ms = lease_ms

    async def offer(self, *events: NewEvent, by: Actor, comes_again: bool = False) -> Offered:
        """Queue events, each once, however often it is offered. What finds no room is counted as
        refused, unless whoever offers ``comes_again`` with it. Raises InvalidEntry."""
        work = partial(claims.offer, events=events, most=self.most, comes_again=comes_again)
        return await self.ledger.change(by, work)

    async def unknown(self, *events: NewEvent) -> tuple[NewEvent, ...]:
        """Those that were never queued."""
        return await self.ledger.read(
            lambda connection: tuple(one for one in events if not claims.is_known(connection, one))
        )

    async def room(self) -> int:
        """How many more events there is room for."""
        return max(self.most - await self.ledger.read(claims.open_events), 0)

    async def claim(self, *, by: Actor) -> Claim | None:
        """The next event, for this process alone until the lease ends; None where none waits."""
        work = partial(claims.claim, lease_ms=self.lease_ms, most_begun=BEGUN, of=self._of)
        return await self.ledger.change(by, work)

    async def hold(self, claim: Claim, *, by: Actor) -> None:
        """Keep the event for another lease. Raises ClaimLost."""
        await self.ledger.change(by, lambda journal: claims.hold(journal, claim, self.lease_ms))

    async def complete(
        self, claim: Claim, *new: NewObservation, by: Actor
    ) -> tuple[Observation, ...]:
        """Keep the observations of an event, which is done by the same transaction. Raises
        ClaimLost, and InvalidEntry with all that is wrong."""
        ready = await asyncio.to_thread(priced, new)
        return await self.ledger.change(by, lambda journal: claims.complete(journal, claim, ready))

    async def fail(self, claim: Claim, reason: str, *, due: int, by: Actor) -> bool:
        """Note that an answer could not be used; whether the event is set aside by that. Raises
        ClaimLost."""
        work = partial(claims.fail, held=claim, reason=reason, most=FAILURES, due=due)
        return await self.ledger.change(by, work)

    async def give_back(self, claim: Claim, *, by: Actor, reason: str = "", due: int = 0) -> None:
        """Leave an event to others; with a ``reason`` it counts as begun. Raises ClaimLost."""
        work = partial(claims.give_back, held=claim, reason=reason, due=due)
        await self.ledger.change(by, work)

    async def retry(self, *, by: Actor) -> int:
        """Queue again all that was set aside; how many events."""
        return await self.ledger.change(by, claims.retry)

    async def finished_runs(self, *, before: int, after: int, limit: int) -> list[tuple[int, str]]:
        """Events of runs, by number and run, that were done ``before`` (ms), behind ``after``."""
        work = partial(claims.finished_runs, before=before, after=after, limit=limit)
        return await self.ledger.read(work)

    async def prune(self, *numbers: int, before: int, by: Actor) -> int:
        """Forget events that were done ``before`` (ms): all of threads, and those with these
        numbers; how many."""
        work = partial(claims.prune, numbers=numbers, before=before)
        return await self.ledger.change(by, work)

    async def set_aside(self, *, limit: int = 50) -> tuple[QueuedEvent, ...]:
        """What was set aside, the newest first."""
        return await self.ledger.read(
            lambda connection: tuple(
                QueuedEvent(**{name: row[name] for name in QueuedEvent.__slots__})
                for row in connection.execute(
                    "SELECT * FROM extraction_events WHERE state = 'set_aside'"
                    " ORDER BY updated_at DESC, number DESC LIMIT ?",
                    (limit,),
                )
            )
        )

    async def standing(self) -> Standing:
        """Whether models are asked at all, and what found no room."""
        return await self.ledger.read(standing_of)

    async def resume(self, *, by: Actor) -> None:
        """Have models asked again, whatever kept them from it, about what waits for that too. What
        was asked by a clock that was ahead counts from now, and not once more."""

        def work(journal: Journal) -> None:
            resume(journal)
            claims.hasten(journal)
            count_from_now(journal)

        await self.ledger.change(by, work)

    async def counts(self) -> QueueCounts:
        """How much there is of what."""
        return await self.ledger.read(_counts)


def _counts(connection: Connection) -> QueueCounts:
    rows = connection.execute(
        "SELECT state, count(*) AS count, sum(found) AS found, min(due) AS due"
        " FROM extraction_events GROUP BY state"
    )
    known = {row["state"]: row for row in rows}

    def of(state: str, column: str = "count") -> int:
        return int(known[state][column]) if state in known else 0

    due = of("waiting", "due") if "waiting" in known else None
    before = standing_of(connection)
    done, found = of("done") + before.pruned, of("done", "found") + before.pruned_found
    return QueueCounts(of("waiting"), of("claimed"), done, of("set_aside"), found, due)
