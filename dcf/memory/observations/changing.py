"""Adding observations and taking them away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dcf.memory.audit.clean_text import clean_fields
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.entities import OBSERVATION, OBSERVED_EVENT, OCCURRENCE, SOURCES
from dcf.memory.observation import NewObservation, Observation, Origin
from dcf.memory.observations.fields import columns_of, observation_of, problems, shared_digest
from dcf.memory.observations.finding import (
    Filter,
    is_observed,
    is_seen,
    observation_row,
    pinned_count,
    rows_to_change,
)
from dcf.memory.observations.rendering import details_of
from dcf.memory.search.indexing import follow_search, index_new
from dcf.problem import Problem
from dcf.search import counts_of_tokens

_AS_GIVEN = ("type", "origin", "project", "workflow", "concepts", "agent_id")
_KNOWN_MS = 90 * 86_400_000
"""How long an event is known that lies before all that is looked through."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A new observation that may be kept, and what all of it costs a model to read."""

    new: NewObservation
    tokens: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Observations that were removed, the newest first, and the numbers of the ``events`` that
    record it, one behind the other: a rollback of all of them brings everything back. No events if
    it was only tried. ``pinned`` is how many were left alone because they are pinned."""

    observations: tuple[Observation, ...]
    events: tuple[int, ...] = ()
    pinned: int = 0


def priced(new: Sequence[NewObservation]) -> tuple[Priced, ...]:
    """The observations with their prices. For before the transaction that adds them, in which
    nobody else could write. Raises InvalidEntry with all that is wrong."""
    refuse("the observation", _problems(new))
    return with_prices(new)


def with_prices(new: Sequence[NewObservation]) -> tuple[Priced, ...]:
    """The observations without secrets, with their prices; nothing is wrong with them."""
    cleaned = [clean_fields(one, but=_AS_GIVEN) for one in new]
    # What is named twice is kept, and costs, once.
    kept = [replace(one, artifacts=tuple(dict.fromkeys(one.artifacts))) for one in cleaned]
    tokens = counts_of_tokens([details_of(one) for one in kept])
    return tuple(map(Priced, kept, tokens))


def add(journal: Journal, new: Sequence[Priced]) -> tuple[Observation, ...]:
    """Add observations, in this order. What the same source has said already, in the same turn and
    words, is not kept again: the answer has the one that is there.

    They are a log themselves: no events, as long as they only come.
    """
    fresh: list[Row] = []
    found = tuple([_added(journal, one, fresh) for one in new])
    index_new(journal.connection, "observation", fresh)
    return found


def observe(
    journal: Journal, source: Origin, event: str, new: Sequence[Priced]
) -> tuple[Observation, ...] | None:
    """Add what was seen in one ``event`` of a source; None for an event that was looked at before.
    What another source has said in the same words is kept once, and counted."""
    if is_observed(journal.connection, source, event):
        return None
    known = {"source_type": source.source_type, "source_id": source.source_id, "event": event}
    OBSERVED_EVENT.insert(journal.connection, {**known, "at": journal.at})
    fresh: list[Row] = []
    found = tuple([_seen(journal, one, fresh) for one in new])
    index_new(journal.connection, "observation", fresh)
    return found


def observe_until(journal: Journal, source_type: str, at: int, now: int) -> None:
    """Note up to when the events of a kind of source were looked through; that is no later than
    ``now``, by its clock, unless the clock was ahead."""
    journal.connection.execute(
        "INSERT INTO observed_until (source_type, at) VALUES (?1, ?2)"
        " ON CONFLICT (source_type) DO UPDATE"
        " SET at = CASE WHEN at > ?3 THEN ?2 ELSE max(at, ?2) END",
        (source_type, at, now),
    )
    # The one is a time of the source, the other of this process.
    journal.connection.execute(
        "DELETE FROM observed_events WHERE source_type = ? AND at < ?",
        (source_type, min(at, journal.at) - _KNOWN_MS),
    )


def forget(journal: Journal, which: Filter) -> Forgotten:
    """Remove what ``which`` leaves, with the times that it was seen and who used it, so that a
    rollback brings all of it back. Raises what ``rows_to_change`` does."""
    rows = rows_to_change(journal.connection, which)
    for row in rows:
        sources = SOURCES.find(journal.connection, row["id"])
        if sources is not None:
            journal.delete(SOURCES, sources, agent_id=row["agent_id"])
        journal.delete(OBSERVATION, row, agent_id=row["agent_id"])
    events = tuple(event.seq for event in journal.noted)
    return _forgotten(journal.connection, which, rows, events)


def forgettable(connection: Connection, which: Filter) -> Forgotten:
    """What ``forget`` would remove. Raises what ``rows_to_change`` does."""
    return _forgotten(connection, which, rows_to_change(connection, which))


def pin(journal: Journal, ids: Sequence[str], *, pinned: bool) -> tuple[Observation, ...]:
    """Make observations pinned, or not; all or none. Raises UnknownObservation."""
    return tuple(_pinned(journal, one, pinned) for one in ids)


def _pinned(journal: Journal, observation_id: str, pinned: bool) -> Observation:
    row = observation_row(journal.connection, observation_id)
    return observation_of(_updated(journal, row, {"pinned": int(pinned)}))


def _updated(journal: Journal, row: dict[str, Any], changed: dict[str, Any]) -> dict[str, Any]:
    """The row with what is ``changed``; as it was if that is the same."""
    after = {**row, **changed, "revision": row["revision"] + 1, "updated_at": journal.at}
    return journal.update(OBSERVATION, row, after, agent_id=row["agent_id"]) or row


def _forgotten(
    connection: Connection,
    which: Filter,
    rows: Sequence[dict[str, Any]],
    events: tuple[int, ...] = (),
) -> Forgotten:
    left = 0 if which.ids else pinned_count(connection, which)
    return Forgotten(tuple(map(observation_of, rows)), events, left)


def _added(journal: Journal, one: Priced, fresh: list[Row]) -> Observation:
    columns = columns_of(one.new)
    row = row_with(journal.connection, columns["digest"])
    if row is None:
        row = inserted(journal, one, columns)
        fresh.append(row)
    return observation_of(row)


def _seen(journal: Journal, one: Priced, fresh: list[Row]) -> Observation:
    columns = {**columns_of(one.new), "digest": shared_digest(one.new)}
    row = row_with(journal.connection, columns["digest"])
    is_new = row is None
    if row is None:
        row = inserted(journal, one, columns)
        fresh.append(row)
    at, origin = _at(journal, one), asdict(one.new.origin)
    occurrence = {"observation_id": row["id"], **origin, "note": one.new.note, "at": at}
    if is_seen(journal.connection, row["id"], one.new.origin):
        return observation_of(row)
    OCCURRENCE.insert(journal.connection, occurrence)
    return observation_of(row if is_new else seen_again(journal, row, [at]))


def seen_again(journal: Journal, row: Row, at: Sequence[int]) -> Row:
    """The row of what was seen at these times (ms), too. Without an event: observations are a
    log."""
    changed = {"times": row["times"] + len(at), "at": max(row["at"], *at), "updated_at": journal.at}
    again = OBSERVATION.replace(journal.connection, {**row, **changed})
    follow_search(journal.connection, OBSERVATION, [(row, again)])
    return again


def row_with(connection: Connection, digest: str) -> dict[str, Any] | None:
    """The row of who says the same, if there is one: of what a person made of one, too."""
    found = connection.execute(
        "SELECT * FROM observations WHERE digest = ?1 OR said = ?1 ORDER BY said IS ?1 DESC, id",
        (digest,),
    ).fetchone()
    return None if found is None else dict(found)


def _at(journal: Journal, one: Priced) -> int:
    return journal.at if one.new.at is None else one.new.at


def inserted(
    journal: Journal, one: Priced, columns: dict[str, Any], **known: Any
) -> dict[str, Any]:
    """A new row, with what is ``known`` of it already; as it is kept. It is still to be
    indexed."""
    row = {
        "id": journal.new_id("observation"),
        **columns,
        "tokens": one.tokens,
        "times": 1,
        "pinned": 0,
        "used": 0,
        "at": _at(journal, one),
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
        **known,
    }
    return OBSERVATION.insert(journal.connection, row)


def _problems(new: Sequence[NewObservation]) -> Iterator[Problem]:
    for number, one in enumerate(new):
        yield from problems(f"/{number}", one)
