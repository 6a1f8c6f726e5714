"""Finding observations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.database import Connection
from dcf.memory.entities import OBSERVATION
from dcf.memory.observation import Concept, ObservationType
from dcf.memory.observations.errors import UnknownObservation


@dataclass(frozen=True, slots=True)
class Filter:
    """Which observations: of one of these projects, types, concepts, kinds of source and sources
    (empty: any), of this turn, not older than ``since`` and not newer than ``until`` (ms, both
    included)."""

    projects: Sequence[str] = ()
    types: Sequence[ObservationType] = ()
    concepts: Sequence[Concept] = ()
    source_types: Sequence[str] = ()
    source_ids: Sequence[str] = ()
    turn: int | None = None
    since: int | None = None
    until: int | None = None

    def condition(self) -> tuple[str, list[object]]:
        """A condition of SQL with its values."""
        where: list[str] = ["1"]
        values: list[object] = []
        lists = (
            ("project", self.projects),
            ("type", self.types),
            ("source_type", self.source_types),
            ("source_id", self.source_ids),
        )
        for column, wanted in lists:
            if wanted:
                where.append(f"{column} IN (SELECT value FROM json_each(?))")
                values.append(json.dumps(list(wanted)))
        if self.concepts:
            where.append(
                "EXISTS (SELECT 1 FROM json_each(observations.concepts) c"
                " WHERE c.value IN (SELECT value FROM json_each(?)))"
            )
            values.append(json.dumps(list(self.concepts)))
        for test, value in (("turn =", self.turn), ("at >=", self.since), ("at <=", self.until)):
            if value is not None:
                where.append(f"{test} ?")
                values.append(value)
        return " AND ".join(where), values


def observation_row(connection: Connection, observation_id: str) -> dict[str, Any]:
    """The row of an observation. Raises UnknownObservation."""
    found = OBSERVATION.find(connection, observation_id)
    if found is None:
        raise UnknownObservation(observation_id=observation_id)
    return found


def newest_rows(
    connection: Connection, which: Filter, *, limit: int, before: str | None
) -> list[dict[str, Any]]:
    """At most ``limit`` rows, the newest first, from behind the observation ``before``, which is
    the last of the page before. Raises UnknownObservation."""
    where, values = which.condition()
    if before is not None:
        last = observation_row(connection, before)
        where += " AND (at, id) < (?, ?)"
        values += [last["at"], last["id"]]
    rows = connection.execute(
        f"SELECT * FROM observations WHERE {where} ORDER BY at DESC, id DESC LIMIT ?",
        [*values, max(limit, 0)],
    )
    return [dict(row) for row in rows]
