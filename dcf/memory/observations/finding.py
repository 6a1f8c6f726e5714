"""Finding observations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.entities import OBSERVATION
from dcf.memory.errors import InvalidEntry
from dcf.memory.observation import Concept, ObservationType, Occurrence, Origin
from dcf.memory.observations.errors import (
    AmbiguousObservation,
    NothingChosen,
    UnknownObservation,
)
from dcf.problem import Problem
from dcf.search import telling_words

_PREFIX = "observation-"
_BY_USE = f"at + min(used, 7) * {86_400_000}"
"""Bounded, so that what is always cited does not keep out what happened since."""
_LONGEST_TOPIC = 10_000
_SAYING = (
    "SELECT ref FROM search_documents WHERE kind = 'observation'"
    " AND place IN (SELECT rowid FROM search_words WHERE search_words MATCH ?)"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which observations: of one of these ids, projects, workflows, types, concepts, kinds of
    source and sources (empty: any), of this turn or state, not older than ``since`` and not newer
    than ``until`` (ms, both included), in which each word of ``topic`` is found, that are
    ``pinned`` or not, that a model found or not (``extracted``), of workflows whose names begin
    with ``workflow_prefix``."""

    ids: Sequence[str] = ()
    projects: Sequence[str] = ()
    workflows: Sequence[str] = ()
    types: Sequence[ObservationType] = ()
    concepts: Sequence[Concept] = ()
    source_types: Sequence[str] = ()
    source_ids: Sequence[str] = ()
    turn: int | None = None
    state: str | None = None
    since: int | None = None
    until: int | None = None
    topic: str | None = None
    pinned: bool | None = None
    extracted: bool | None = None
    workflow_prefix: str = ""

    @property
    def words(self) -> list[str]:
        """The words of the topic, each once: without stop words where there are others."""
        return list(dict.fromkeys(word.lower() for word in telling_words(self.topic or "")))

    @property
    def takes_all(self) -> bool:
        """Whether it leaves every observation that there is."""
        return self.condition()[0] == "1"

    def condition(self) -> tuple[str, list[object]]:
        """A condition of SQL with its values. Raises InvalidEntry for a topic that is too long."""
        where: list[str] = ["1"]
        values: list[object] = []
        lists = (
            ("id", self.ids),
            ("project", self.projects),
            ("workflow", self.workflows),
            ("type", self.types),
        )
        for column, wanted in lists:
            if wanted:
                where.append(f"{column} IN (SELECT value FROM json_each(?))")
                values.append(json.dumps(list(wanted)))
        if self.workflow_prefix:
            where.append("workflow >= ? AND workflow < ? || char(1114111)")
            values += [self.workflow_prefix, self.workflow_prefix]
        source, of_source = self._source()
        if source:
            # Where it was seen first, or again.
            again = f"SELECT observation_id FROM observation_origins WHERE {source}"
            where.append(f"({source} OR id IN ({again}))")
            values += [*of_source, *of_source]
        if self.concepts:
            where.append(
                "EXISTS (SELECT 1 FROM json_each(observations.concepts) c"
                " WHERE c.value IN (SELECT value FROM json_each(?)))"
            )
            values.append(json.dumps(list(self.concepts)))
        for test, value in (("at >=", self.since), ("at <=", self.until)):
            if value is not None:
                where.append(f"{test} ?")
                values.append(value)
        if self.pinned is not None:
            # As it stands in the index of the pinned ones.
            where.append("pinned = 1" if self.pinned else "pinned = 0")
        if self.extracted is not None:
            where.append("extracted = 1" if self.extracted else "extracted = 0")
        if self.topic is not None:
            refuse("the choice of observations", _topic_problems(self.topic))
            where.append(f"id IN ({_SAYING})" if self.words else "0")
            # Words have letters, digits and marks only.
            values += [" AND ".join(f'"{word}"' for word in self.words)] if self.words else []
        return " AND ".join(where), values

    def _source(self) -> tuple[str, list[object]]:
        lists = (("source_type", self.source_types), ("source_id", self.source_ids))
        where = [f"{column} IN (SELECT value FROM json_each(?))" for column, one in lists if one]
        values: list[object] = [json.dumps(list(one)) for _, one in lists if one]
        for column, value in (("turn", self.turn), ("state", self.state)):
            if value is not None:
                where.append(f"{column} = ?")
                values.append(value)
        return " AND ".join(where), values


def _topic_problems(topic: str) -> Iterator[Problem]:
    if len(topic) > _LONGEST_TOPIC:
        message = f"the topic has {len(topic):,} characters, more than {_LONGEST_TOPIC:,}"
        hint = "name a few words: each of them has to stand in the observation"
        yield Problem("memory_observation_topic", message, "/topic", hint)


def observation_row(connection: Connection, observation_id: str) -> dict[str, Any]:
    """The row of an observation. Raises UnknownObservation."""
    found = OBSERVATION.find(connection, observation_id)
    if found is None:
        raise UnknownObservation(observation_id=observation_id)
    return found


def named_row(connection: Connection, name: str) -> dict[str, Any]:
    """The row of the observation whose id is ``name`` or begins with it, as rows of an index call
    it. Raises UnknownObservation, AmbiguousObservation."""
    # The first characters of an id as programs see it are those of each.
    is_of_all = bool(name) and _PREFIX.startswith(name)
    begins = name if name.startswith(_PREFIX) or is_of_all else f"{_PREFIX}{name}"
    rows = connection.execute(
        "SELECT * FROM observations WHERE id = ?1 OR id = ?2"
        " OR (id >= ?2 AND id < ?2 || char(1114111)) ORDER BY id LIMIT 3",
        (name, begins),
    ).fetchall()
    exact = [row for row in rows if row["id"] in (name, begins)]
    if not rows or not name or (is_of_all and len(rows) == 1):
        raise UnknownObservation(observation_id=name)
    if len(rows) > 1 and not exact:
        raise AmbiguousObservation(
            observation_id=name, found=", ".join(row["id"] for row in rows[:2])
        )
    return dict((exact or rows)[0])


def occurrences_of(connection: Connection, observation_id: str, limit: int) -> list[Occurrence]:
    """The newest times that it happened, where that is kept."""
    rows = connection.execute(
        "SELECT source_type, source_id, turn, state, note, at FROM observation_origins"
        " WHERE observation_id = ? ORDER BY at DESC, source_id DESC LIMIT ?",
        (observation_id, limit),
    )
    return [Occurrence(Origin(*row[:4]), row[4], row[5]) for row in rows]


def is_observed(connection: Connection, source: Origin, event: str) -> bool:
    """Whether the observations of this event are kept."""
    found = connection.execute(
        "SELECT 1 FROM observed_events WHERE source_type = ? AND source_id = ? AND event = ?",
        (source.source_type, source.source_id, event),
    ).fetchone()
    return found is not None


def rows_to_change(connection: Connection, which: Filter) -> list[dict[str, Any]]:
    """All rows that ``which`` leaves, the newest first. What is pinned is named by its id, or left
    alone. Raises NothingChosen for one that leaves
    every observation, InvalidEntry for a topic without a word, and UnknownObservation for an id
    that is not there."""
    if which.takes_all:
        raise NothingChosen
    if which.topic is not None and not which.words:
        problem = Problem(
            "memory_observation_topic",
            f"the topic {which.topic!r} has no word that could be looked for",
            "/topic",
            "say a word that stands in the observations",
        )
        raise InvalidEntry("the choice of observations", (problem,))
    for one in which.ids:
        observation_row(connection, one)
    return _rows(connection, which if which.ids else replace(which, pinned=False))


def pinned_count(connection: Connection, which: Filter) -> int:
    """How many pinned ones ``which`` leaves."""
    where, values = replace(which, pinned=True).condition()
    found = connection.execute(f"SELECT count(*) FROM observations WHERE {where}", values)
    return int(found.fetchone()[0])


def told_rows(connection: Connection, which: Filter, limit: int) -> list[dict[str, Any]]:
    """At most ``limit`` rows for a context: those that are pinned, also if they are older than
    ``which`` leaves, and then others; each the newest first, where each use makes one a day newer,
    up to seven."""
    pinned, others = replace(which, since=None, pinned=True), replace(which, pinned=False)
    first = [] if which.pinned is False else _rows(connection, pinned, limit, _BY_USE)
    rest = [] if which.pinned else _rows(connection, others, limit - len(first), _BY_USE)
    return [*first, *rest]


def _rows(
    connection: Connection, which: Filter, limit: int | None = None, order: str = "at"
) -> list[dict[str, Any]]:
    where, values = which.condition()
    rows = connection.execute(
        f"SELECT * FROM observations WHERE {where} ORDER BY {order} DESC, id DESC LIMIT ?",
        [*values, -1 if limit is None else max(limit, 0)],
    )
    return [dict(row) for row in rows]


def is_seen(connection: Connection, observation_id: str, origin: Origin) -> bool:
    """Whether this source is one of those that an observation is known from."""
    # By columns: a kind of source may have a slash in it, as an id of an entity may not.
    found = connection.execute(
        "SELECT 1 FROM observation_origins"
        " WHERE observation_id = ? AND source_type = ? AND source_id = ?",
        (observation_id, origin.source_type, origin.source_id),
    ).fetchone()
    return found is not None


def is_named(connection: Connection, observation_id: str, origin: Origin) -> bool:
    """Whether it is kept what place in this source an observation is known from."""
    found = connection.execute(
        "SELECT 1 FROM observation_origins"
        " WHERE observation_id = ? AND source_type = ? AND source_id = ? AND state IS NOT NULL",
        (observation_id, origin.source_type, origin.source_id),
    ).fetchone()
    return found is not None


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


def rows_behind(
    which: Filter, after: str, limit: int, connection: Connection
) -> list[tuple[dict[str, Any], list[Occurrence]]]:
    """At most ``limit`` rows with each time that they were seen, by their ids, from behind the id
    ``after``. An id never changes: what is there all the time is in one page, whatever is written
    between two of them."""
    where, values = which.condition()
    rows = connection.execute(
        f"SELECT * FROM observations WHERE id > ? AND {where} ORDER BY id LIMIT ?",
        [after, *values, limit],
    ).fetchall()
    return [(dict(row), _all_occurrences_of(connection, row["id"])) for row in rows]


def _all_occurrences_of(connection: Connection, observation_id: str) -> list[Occurrence]:
    rows = connection.execute(
        "SELECT source_type, source_id, turn, state, note, at FROM observation_origins"
        " WHERE observation_id = ? ORDER BY at, source_type, source_id",
        (observation_id,),
    )
    return [Occurrence(Origin(*row[:4]), row[4], row[5]) for row in rows]


def rows_around(connection: Connection, which: Filter, at: int, each: int) -> list[dict[str, Any]]:
    """The rows up to ``at`` and those after it, at most ``each``, the oldest first."""
    where, values = which.condition()
    begin, given = f"SELECT * FROM observations WHERE {where}", [*values, at, max(each, 0)]
    before = connection.execute(
        f"{begin} AND at <= ? ORDER BY at DESC, id DESC LIMIT ?", given
    ).fetchall()
    after = connection.execute(f"{begin} AND at > ? ORDER BY at, id LIMIT ?", given).fetchall()
    return [dict(row) for row in (*reversed(before), *after)]
