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
from dcf.memory.observation import ArrivingObservation, Occurrence, Origin, TakenIn
from dcf.memory.observations.changing import Priced, inserted, row_with, seen_again, with_prices
from dcf.memory.observations.fields import arriving_problems, columns_of, shared_digest
from dcf.memory.observations.finding import is_named, is_seen
from dcf.memory.search.indexing import index_new
from dcf.problem import Problem

_VERSION = ("type", "title", "subtitle", "facts", "narrative", "concepts", "artifacts")
"""Columns that a new version of an observation has anew."""
_Became: TypeAlias = Literal["new", "seen_again", "known", "changed"]


@dataclass(frozen=True, slots=True)
class Arrived:
    """One that may be kept, each of its sources once."""

    id: str
    priced: Priced
    seen: tuple[Occurrence, ...]
    pinned: bool
    follows: bool
    moves: bool


def arrived(arriving: Sequence[ArrivingObservation]) -> tuple[Arrived, ...]:
    """What may be kept. For before the transaction. Raises InvalidEntry with all that is wrong."""
    refuse("the observation", _problems(arriving))
    seen = [_each_source_once(one.seen) for one in arriving]
    news = [
        replace(one.new, at=max((it.at for it in times), default=one.new.at))
        for one, times in zip(arriving, seen, strict=True)
    ]
    return tuple(
        Arrived(one.id, priced, times, one.pinned, one.follows, one.moves)
        for one, priced, times in zip(arriving, with_prices(news), seen, strict=True)
    )


def take_in(journal: Journal, arrivals: Sequence[Arrived]) -> TakenIn:
    """Keep them, in this order: what is there already in the same words gets the sources that it
    does not have, and an earlier version says what this one does. One that is new keeps its id, if
    no other has it, and its pin."""
    became = Counter(_taken_in(journal, one) for one in arrivals)
    return TakenIn(became["new"], became["seen_again"], became["known"], became["changed"])


def _taken_in(journal: Journal, one: Arrived) -> _Became:
    earlier = _earlier(journal.connection, one) if one.follows else None
    if earlier is not None:
        if not one.moves:
            new = replace(one.priced.new, project=earlier["project"])
            one = replace(one, priced=Priced(new, one.priced.tokens))
        if shared_digest(one.priced.new) in (earlier["digest"], earlier["said"]):
            return "known"
        if _changed(journal, one, earlier):
            return "changed"
    return _kept(journal, one)


def _earlier(connection: Connection, one: Arrived) -> dict[str, Any] | None:
    """The row of what has the origin of ``one`` already."""
    origin = one.priced.new.origin
    found = connection.execute(
        "SELECT o.* FROM observations o JOIN observation_origins n ON n.observation_id = o.id"
        " WHERE n.source_type = ? AND n.source_id = ? AND n.state = ?",
        (origin.source_type, origin.source_id, origin.state),
    ).fetchone()
    return None if found is None else dict(found)


def _changed(journal: Journal, one: Arrived, earlier: dict[str, Any]) -> bool:
    """Have an earlier version say what it says now, unless a person made something else of it,
    which stays. Not where it is of another project, other sources said it, too, or something else
    says that already: then it is no version of this one any more."""
    new, connection = one.priced.new, journal.connection
    said = {**columns_of(new), "digest": shared_digest(new), "tokens": one.priced.tokens}
    is_own = earlier["times"] == 1 and earlier["project"] == new.project
    if not is_own or row_with(connection, said["digest"]) is not None:
        _note(connection, earlier["id"], new.origin, state=None)
        return False
    names = ("digest",) if earlier["said"] is not None else (*_VERSION, "digest", "tokens")
    after = {**earlier, **{name: said[name] for name in names}}
    after |= {"revision": earlier["revision"] + 1, "updated_at": journal.at}
    journal.update(OBSERVATION, earlier, after, agent_id=earlier["agent_id"])
    _note(connection, earlier["id"], new.origin, note=one.seen[0].note)
    return True


def _kept(journal: Journal, one: Arrived) -> _Became:
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
        # At once: the next of them may be another version of this one.
        index_new(connection, "observation", [row])
        for seen in one.seen:
            _add(connection, row["id"], seen)
        return "new"
    fresh = [seen for seen in one.seen if not is_seen(connection, row["id"], seen.origin)]
    if not fresh:
        if one.follows and not is_named(connection, row["id"], new.origin):
            # It was brought in before its source's name of it was kept.
            _note(connection, row["id"], new.origin, state=new.origin.state)
        return "known"
    for seen in fresh:
        _add(connection, row["id"], seen)
    seen_again(journal, row, [seen.at for seen in fresh])
    return "seen_again"


def _note(connection: Connection, observation_id: str, origin: Origin, **changed: Any) -> None:
    """Note what is ``changed`` about the time that an observation was seen in this source."""
    found = connection.execute(
        "SELECT * FROM observation_origins"
        " WHERE observation_id = ? AND source_type = ? AND source_id = ?",
        (observation_id, origin.source_type, origin.source_id),
    ).fetchone()
    OCCURRENCE.replace(connection, {**dict(found), **changed}, dict(found))


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
