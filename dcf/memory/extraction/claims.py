"""The rows of the queue: adding events, and who works on which.

A claim has a number, the fence, that grows with each claim of the event. Who has an older one can
do nothing with the event any more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import EXTRACTION_EVENT
from dcf.memory.extraction.errors import ClaimLost
from dcf.memory.extraction.standing import note_pruned, note_refused
from dcf.memory.observation import Observation, Origin
from dcf.memory.observations.changing import Priced, observe
from dcf.memory.observations.finding import is_observed

Kind: TypeAlias = Literal["runs", "threads", "sessions", "agents"]
KINDS: tuple[Kind, ...] = get_args(Kind)
RUN = "run"
CONVERSATION = "conversation"
AGENT = "agent"
"""The ``source_type`` of events in the queue; all others are threads. Conversations of sessions
have another one than their observations: the marks of ``session`` are given up after a while, and a
turn must not come again by that."""
_LONGEST_MS = 86_400_000
"""An event that is to wait longer than that from now was written by a wrong clock."""
_LEASES = 10
"""So was a claim that ends later than so many leases from now: whoever holds it has renewed it
since, if it lives."""

_NEXT = f"""
    SELECT * FROM extraction_events WHERE ((state = 'waiting' AND (due <= ?1 OR due > ?2))
    OR (state = 'claimed' AND (until <= ?1 OR until > ?3)))
    AND (?4 IS NULL OR ?4 = CASE source_type WHEN '{RUN}' THEN 'runs'
    WHEN '{CONVERSATION}' THEN 'sessions' WHEN '{AGENT}' THEN 'agents' ELSE 'threads' END)
    ORDER BY due, number LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event of a source: a run or thread by its id there, and which event of it."""

    source_type: str
    source_id: str
    event: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class Offered:
    """How many events are in the queue now, were in it or done before, and found no room."""

    queued: int = 0
    known: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """An event that is this process's until it is done, given back or taken over."""

    number: int
    source_type: str
    source_id: str
    event: str
    project: str
    fence: int
    failures: int

    @property
    def origin(self) -> Origin:
        """Where the event happened: the run, or the turn of the thread."""
        turn = int(self.event) if self.event.isdecimal() else None
        return Origin(self.source_type, self.source_id, turn)


def offer(journal: Journal, events: Sequence[NewEvent], most: int, comes_again: bool) -> Offered:
    """Add events that are not known, as long as fewer than ``most`` are open. What finds no room is
    counted for good, unless whoever offers ``comes_again`` with it."""
    room = most - open_events(journal.connection)
    queued = known = refused = 0
    for one in events:
        if is_known(journal.connection, one):
            known += 1
        elif queued >= room:
            refused += 1
            continue
        else:
            EXTRACTION_EVENT.insert(journal.connection, _row(one, journal.at))
            queued += 1
        _mark_queued(journal.connection, one)
    if refused and not comes_again:
        note_refused(journal, refused)
    return Offered(queued, known, refused)


def claim(journal: Journal, lease_ms: int, most_begun: int, of: Kind | None) -> Claim | None:
    """The next event (None: ``of`` any kind) that nobody has, for ``lease_ms``; None where there is
    none. One that was begun ``most_begun`` times and never ended is set aside."""
    now = journal.at
    given = (now, now + _LONGEST_MS, now + _LEASES * lease_ms, of)
    while (found := journal.connection.execute(_NEXT, given).fetchone()) is not None:
        row = dict(found)
        if row["begun"] >= most_begun:
            reason = row["reason"] or "whoever worked on it died"
            _set_aside(journal, row, f"it was begun {row['begun']} times: {reason}")
            continue
        claimed = {
            "state": "claimed",
            "fence": row["fence"] + 1,
            "until": now + lease_ms,
            "begun": row["begun"] + 1,
        }
        return claim_of(_written(journal, row, claimed))
    return None


def hold(journal: Journal, held: Claim, lease_ms: int) -> None:
    """Keep the event for another ``lease_ms``. Raises ClaimLost."""
    _written(journal, held_row(journal.connection, held), {"until": journal.at + lease_ms})


def complete(journal: Journal, held: Claim, new: Sequence[Priced]) -> tuple[Observation, ...]:
    """Keep the observations of an event; it is done by that. Raises ClaimLost."""
    row = held_row(journal.connection, held)
    source = Origin(held.source_type, held.source_id)
    kept = observe(journal, source, _observed(held.event), new) or ()
    _written(journal, row, {"state": "done", "until": 0, "reason": "", "found": len(kept)})
    return kept


def fail(journal: Journal, held: Claim, reason: str, most: int, due: int) -> bool:
    """Note that the event could not be worked on; it comes again when it is ``due``, or, at the
    ``most``-th failure, is set aside: whether it was. Raises ClaimLost."""
    row = held_row(journal.connection, held)
    failures: int = row["failures"] + 1
    if failures >= most:
        _set_aside(journal, row, reason, failures)
    else:
        later = {"state": "waiting", "until": 0, "due": due, "failures": failures}
        _written(journal, row, {**later, "reason": reason})
    return failures >= most


def give_back(journal: Journal, held: Claim, reason: str = "", due: int = 0) -> None:
    """Leave the event to others, from when it is ``due``. Without a ``reason`` it was not begun.
    Raises ClaimLost."""
    row = held_row(journal.connection, held)
    back = {"state": "waiting", "until": 0, "due": due, "reason": reason or row["reason"]}
    _written(journal, row, {**back, "begun": row["begun"] - (not reason)})


def retry(journal: Journal) -> int:
    """Put all that was set aside into the queue again, as if nobody had begun it; how many."""
    anew = {"state": "waiting", "due": 0, "begun": 0, "failures": 0, "reason": ""}
    rows = journal.connection.execute(
        "SELECT * FROM extraction_events WHERE state = 'set_aside'"
    ).fetchall()
    for row in rows:
        _written(journal, dict(row), anew)
    return len(rows)


def hasten(journal: Journal) -> None:
    """Let what waits for a later time be taken now, behind what waits for none."""
    rows = journal.connection.execute(
        "SELECT * FROM extraction_events WHERE state = 'waiting' AND due > ?", (journal.at,)
    ).fetchall()
    for row in rows:
        _written(journal, dict(row), {"due": journal.at})


def held_row(connection: Connection, held: Claim) -> dict[str, Any]:
    """The row of a claimed event. Raises ClaimLost."""
    found = connection.execute(
        "SELECT * FROM extraction_events WHERE number = ? AND fence = ? AND state = 'claimed'",
        (held.number, held.fence),
    ).fetchone()
    if found is None:
        raise ClaimLost(event=held.event, source_id=held.source_id)
    return dict(found)


def claim_of(row: Row) -> Claim:
    """The claim in a row."""
    return Claim(**{name: row[name] for name in Claim.__slots__})


def open_events(connection: Connection) -> int:
    """How many events are neither done nor set aside."""
    counted = connection.execute(
        "SELECT count(*) FROM extraction_events WHERE state IN ('waiting', 'claimed')"
    )
    return int(counted.fetchone()[0])


def is_known(connection: Connection, one: NewEvent) -> bool:
    """Whether an event was ever queued: it is in the queue, or was pruned from it."""
    source = Origin(one.source_type, one.source_id)
    found = connection.execute(
        "SELECT 1 FROM extraction_events WHERE source_type = ? AND source_id = ? AND event = ?",
        (one.source_type, one.source_id, one.event),
    )
    return found.fetchone() is not None or is_observed(connection, source, _observed(one.event))


def finished_runs(
    connection: Connection, before: int, after: int, limit: int
) -> list[tuple[int, str]]:
    """The numbers of events of runs, behind the number ``after``, that were done ``before`` (ms),
    with the runs' ids."""
    rows = connection.execute(
        "SELECT number, source_id FROM extraction_events WHERE state = 'done'"
        " AND source_type = ? AND updated_at < ? AND number > ? ORDER BY number LIMIT ?",
        (RUN, before, after, limit),
    )
    return [(row[0], row[1]) for row in rows]


def prune(journal: Journal, numbers: Sequence[int], before: int) -> int:
    """Forget events that were done ``before`` (ms): those of threads, whose turns say themselves
    that they were queued, and those with these ``numbers``; how many. They stay counted."""
    rows = journal.connection.execute(
        "DELETE FROM extraction_events WHERE state = 'done' AND updated_at < ?"
        " AND (source_type <> ? OR number IN (SELECT value FROM json_each(?))) RETURNING found",
        (before, RUN, json.dumps(list(numbers))),
    ).fetchall()
    if rows:
        note_pruned(journal, len(rows), sum(row["found"] for row in rows))
    return len(rows)


def _mark_queued(connection: Connection, one: NewEvent) -> None:
    """Say of the turn of a thread that it was queued."""
    if one.source_type == RUN or not one.event.isdecimal():
        return
    connection.execute(
        "UPDATE thread_turns SET queued = 1 WHERE number = ? AND thread_id ="
        " (SELECT id FROM threads WHERE source_type = ? AND source_id = ?)",
        (int(one.event), one.source_type, one.source_id),
    )


def _observed(event: str) -> str:
    """What an event is called among those whose observations are kept."""
    return f"model {event}"


def _row(one: NewEvent, at: int) -> dict[str, Any]:
    return {
        "source_type": one.source_type,
        "source_id": one.source_id,
        "event": one.event,
        "project": one.project,
        "state": "waiting",
        "queued_at": at,
        "updated_at": at,
    }


def _set_aside(journal: Journal, row: Row, reason: str, failures: int | None = None) -> None:
    count = row["failures"] if failures is None else failures
    aside = {"state": "set_aside", "until": 0, "failures": count, "reason": reason}
    _written(journal, row, aside)


def _written(journal: Journal, row: Row, changed: Row) -> dict[str, Any]:
    after = {**row, **changed, "updated_at": journal.at}
    return EXTRACTION_EVENT.replace(journal.connection, after, row)
