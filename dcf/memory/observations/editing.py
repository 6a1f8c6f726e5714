"""Changing what an observation says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import OBSERVATION
from dcf.memory.errors import InvalidEntry, RevisionConflict
from dcf.memory.observation import NewObservation, Observation
from dcf.memory.observations.changing import priced
from dcf.memory.observations.errors import SameObservation
from dcf.memory.observations.fields import columns_of, observation_of, shared_digest
from dcf.memory.observations.finding import observation_row, occurrences_of
from dcf.problem import Problem

_TEXTS = ("title", "subtitle", "facts", "narrative")


@dataclass(frozen=True, slots=True)
class Texts:
    """What an observation is to say; None: what it says already."""

    title: str | None = None
    subtitle: str | None = None
    facts: tuple[str, ...] | None = None
    narrative: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """An observation as it was read, and the columns that its new texts have."""

    before: Observation
    columns: dict[str, Any]
    new: NewObservation


def edited(before: Observation, texts: Texts) -> Edit:
    """The edit, cleaned and with its price. For before the transaction, in which nobody else could
    write. Raises InvalidEntry with all that is wrong."""
    given = {name: getattr(texts, name) for name in _TEXTS if getattr(texts, name) is not None}
    if not given:
        hint = f"say one of {', '.join(_TEXTS)}"
        nothing = Problem("memory_observation_edit", "no text is given for it", hint=hint)
        raise InvalidEntry("the observation", (nothing,))
    said = NewObservation(
        type=before.type,
        title=before.title,
        origin=before.origin,
        project=before.project,
        workflow=before.workflow,
        subtitle=before.subtitle,
        facts=before.facts,
        narrative=before.narrative,
        artifacts=before.artifacts,
    )
    (one,) = priced([replace(said, **given)])
    columns = columns_of(one.new)
    changed = {name: columns[name] for name in _TEXTS}
    return Edit(before, {**changed, "tokens": one.tokens}, one.new)


def edit(journal: Journal, order: Edit) -> Observation:
    """Have an observation say something else. Where it is from, and how often it was seen, stay. A
    source that says what it says now, or again what its sources said, is counted with it.
    Raises UnknownObservation, RevisionConflict, SameObservation."""
    row, after = _draft(journal.connection, order)
    after |= {"revision": row["revision"] + 1, "updated_at": journal.at}
    kept = journal.update(OBSERVATION, row, after, agent_id=row["agent_id"])
    return observation_of(kept or row)


def editable(connection: Connection, order: Edit) -> Observation:
    """What the observation would be. Raises as ``edit`` does."""
    return observation_of(_draft(connection, order)[1])


def _draft(connection: Connection, order: Edit) -> tuple[dict[str, Any], dict[str, Any]]:
    """The row as it is and as it is to be. Raises as ``edit`` does."""
    seen = order.before
    row = observation_row(connection, seen.id)
    if row["revision"] != seen.revision:
        raise RevisionConflict(
            what=f"observation {seen.id}", expected=seen.revision, found=row["revision"]
        )
    after = {**row, **order.columns, "said": _digest(connection, row, order.new)}
    other = _same(connection, after)
    if other is not None:
        raise SameObservation(observation_id=other)
    return row, after


def _digest(connection: Connection, row: dict[str, Any], new: NewObservation) -> str | None:
    """By which it is known what an observation says now; None where that is what its source said.
    One that was added as it is is known by its source, too."""
    is_seen = bool(occurrences_of(connection, row["id"], 1))
    digest: str = shared_digest(new) if is_seen else columns_of(new)["digest"]
    return None if digest == row["digest"] else digest


def _same(connection: Connection, after: dict[str, Any]) -> str | None:
    """The id of another observation of the same scope and type that says the same."""
    columns = ("project", "workflow", "type", *_TEXTS)
    where = " AND ".join(f"{column} = :{column}" for column in columns)
    found = connection.execute(
        f"SELECT id FROM observations WHERE id <> :id AND {where} LIMIT 1", after
    ).fetchone()
    return None if found is None else str(found[0])
