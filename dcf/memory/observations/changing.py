"""Adding observations and taking them away."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.audit.journal import Journal
from dcf.memory.entities import OBSERVATION
from dcf.memory.observation import Observation
from dcf.memory.observations.fields import columns_of, observation_of
from dcf.memory.observations.finding import observation_row
from dcf.memory.observations.pricing import Priced
from dcf.memory.search.indexing import follow_search


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
    OBSERVATION.insert(journal.connection, row)
    follow_search(journal.connection, OBSERVATION, None, row)
    return observation_of(row)
