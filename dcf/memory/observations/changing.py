"""Adding observations and taking them away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcf.memory.audit.clean_text import clean_fields
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.entities import OBSERVATION
from dcf.memory.observation import NewObservation, Observation
from dcf.memory.observations.fields import columns_of, observation_of, problems
from dcf.memory.observations.finding import observation_row
from dcf.memory.observations.rendering import details_of
from dcf.memory.search.indexing import follow_search
from dcf.problem import Problem
from dcf.search import counts_of_tokens

_AS_GIVEN = ("type", "origin", "project", "concepts", "agent_id")


@dataclass(frozen=True, slots=True)
class Priced:
    """A new observation that may be kept, and what all of it costs a model to read."""

    new: NewObservation
    tokens: int


def priced(new: Sequence[NewObservation]) -> tuple[Priced, ...]:
    """The observations with their prices. For before the transaction that adds them, in which
    nobody else could write. Raises InvalidEntry with all that is wrong."""
    refuse("the observation", _problems(new))
    kept = [clean_fields(one, but=_AS_GIVEN) for one in new]
    tokens = counts_of_tokens([details_of(one) for one in kept])
    return tuple(map(Priced, kept, tokens))


def add(journal: Journal, new: Sequence[Priced]) -> tuple[Observation, ...]:
    """Add observations, in this order. What the same source has said already, in the same turn and
    words, is not kept again: the answer has the one that is there.

    They are a log themselves: no events, as long as they only come.
    """
    return tuple(_added(journal, one) for one in new)


def delete(journal: Journal, observation_id: str) -> None:
    """Remove an observation, so that a rollback brings it back. Raises UnknownObservation."""
    row = observation_row(journal.connection, observation_id)
    journal.delete(OBSERVATION, row, agent_id=row["agent_id"])


def _added(journal: Journal, one: Priced) -> Observation:
    columns = columns_of(one.new)
    known = journal.connection.execute(
        "SELECT * FROM observations WHERE digest = ?", (columns["digest"],)
    ).fetchone()
    if known is not None:
        return observation_of(dict(known))
    row = {
        "id": journal.new_id("observation"),
        **columns,
        "tokens": one.tokens,
        "at": journal.at if one.new.at is None else one.new.at,
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    kept = OBSERVATION.insert(journal.connection, row)
    follow_search(journal.connection, OBSERVATION, None, kept)
    return observation_of(kept)


def _problems(new: Sequence[NewObservation]) -> Iterator[Problem]:
    for number, one in enumerate(new):
        yield from problems(f"/{number}", one)
