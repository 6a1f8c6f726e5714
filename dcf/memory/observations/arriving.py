"""Taking in observations that another memory or program has kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.entities import OBSERVATION, OCCURRENCE
from dcf.memory.observation import ArrivingObservation, Occurrence, TakenIn
from dcf.memory.observations.changing import Priced, inserted, row_with, with_prices
from dcf.memory.observations.fields import arriving_problems, columns_of, shared_digest
from dcf.memory.observations.finding import is_seen
from dcf.memory.search.indexing import follow_search
from dcf.problem import Problem

_Became: TypeAlias = Literal["new", "seen_again", "known"]


@dataclass(frozen=True, slots=True)
class Arrived:
    """One that may be kept, each of its sources once."""

    id: str
    priced: Priced
    seen: tuple[Occurrence, ...]
    pinned: bool


def arrived(arriving: Sequence[ArrivingObservation]) -> tuple[Arrived, ...]:
    """What may be kept. For before the transaction. Raises InvalidEntry with all that is wrong."""
    refuse("the observation", _problems(arriving))
    seen = [_each_source_once(one.seen) for one in arriving]
    news = [
        replace(one.new, at=max((it.at for it in times), default=one.new.at))
        for one, times in zip(arriving, seen, strict=True)
    ]
    ids, pins = [one.id for one in arriving], [one.pinned for one in arriving]
    return tuple(map(Arrived, ids, with_prices(news), seen, pins))


def take_in(journal: Journal, arrivals: Sequence[Arrived]) -> TakenIn:
    """Keep them, in this order: what is there already in the same words gets the sources that it
    does not have. One that is new keeps its id, if no other has it, and its pin."""
    became = Counter(_taken_in(journal, one) for one in arrivals)
    return TakenIn(became["new"], became["seen_again"], became["known"])


def _taken_in(journal: Journal, one: Arrived) -> _Became:
    new, connection = one.priced.new, journal.connection
    columns = columns_of(new)
    if one.seen:
        columns["digest"] = shared_digest(new)
    row = row_with(connection, columns["digest"])
    if row is None:
        known: dict[str, Any] = (
            {} if not one.id or OBSERVATION.find(connection, one.id) else {"id": one.id}
        )
        known |= {"times": max(len(one.seen), 1), "pinned": int(one.pinned)}
        row = inserted(journal, one.priced, columns, **known)
        for seen in one.seen:
            _add(connection, row["id"], seen)
        return "new"
    fresh = [seen for seen in one.seen if not is_seen(connection, row["id"], seen.origin)]
    if not fresh:
        return "known"
    for seen in fresh:
        _add(connection, row["id"], seen)
    again = OBSERVATION.replace(
        connection,
        {
            **row,
            "times": row["times"] + len(fresh),
            "at": max(row["at"], *(seen.at for seen in fresh)),
            "updated_at": journal.at,
        },
    )
    follow_search(connection, OBSERVATION, row, again)
    return "seen_again"


def _add(connection: Connection, observation_id: str, seen: Occurrence) -> None:
    origin = asdict(seen.origin)
    row = {"observation_id": observation_id, **origin, "note": seen.note, "at": seen.at}
    OCCURRENCE.insert(connection, row)


def _each_source_once(seen: Sequence[Occurrence]) -> tuple[Occurrence, ...]:
    first: dict[tuple[str, str], Occurrence] = {}
    for one in seen:
        first.setdefault((one.origin.source_type, one.origin.source_id), one)
    return tuple(first.values())


def _problems(arriving: Sequence[ArrivingObservation]) -> Iterator[Problem]:
    for number, one in enumerate(arriving):
        yield from arriving_problems(f"/{number}" if len(arriving) > 1 else "", one)
