"""Changing an agent's archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse
from dcf.memory.entities import PASSAGE
from dcf.memory.passage import NewPassage, Passage
from dcf.memory.passages.fields import PassageFields, columns_of, fields_of, passage_of, problems
from dcf.memory.passages.finding import ids_once_there, passage_row, rows_of_ids
from dcf.problem import Problem


def insert(journal: Journal, agent_id: str, new: Sequence[NewPassage]) -> tuple[Passage, ...]:
    """Add passages, all or none. Raises UnknownAgent, InvalidEntry with all that is wrong."""
    agent_row(journal.connection, agent_id)
    given = [fields_of(one) for one in new]
    refuse("the passage", _problems(given))
    rows = [_row(agent_id, one, journal.new_id("passage"), journal.at) for one in given]
    return tuple(map(passage_of, journal.create_all(PASSAGE, rows, agent_id=agent_id)))


def keep(
    journal: Journal, agent_id: str, passages: Sequence[Passage], again: str | None = None
) -> dict[str, Passage | None]:
    """Add passages under the ids and times that they have, all or none, also those that were
    deleted for the reason ``again``; what was left alone, by its id: the passage that is there,
    None for one that was deleted. Raises UnknownAgent, InvalidEntry with all that is wrong."""
    agent_row(journal.connection, agent_id)
    given = {one.id: fields_of(one) for one in passages}
    refuse("the passage", _problems([*given.values()]))
    there = {row["id"]: passage_of(row) for row in rows_of_ids(journal.connection, [*given])}
    left = {**dict.fromkeys(ids_once_there(journal.connection, [*given], again)), **there}
    new = [one for one in passages if one.id not in left]
    rows = [_row(agent_id, given[one.id], one.id, one.created_at) for one in new]
    journal.create_all(PASSAGE, rows, agent_id=agent_id)
    return left


def change_passage(journal: Journal, passage_id: str, given: Mapping[str, Any]) -> Passage:
    """The passage with fields changed. Raises UnknownPassage, InvalidEntry."""
    row = passage_row(journal.connection, passage_id)
    unknown = (
        Problem("memory_passage_field", f"{name} cannot be changed", f"/{name}")
        for name in sorted(given.keys() - PassageFields.__annotations__.keys())
    )
    refuse("the passage", unknown)
    refuse("the passage", problems("", given))
    after = {**row, **columns_of(given)}
    kept = journal.update(PASSAGE, row, after, agent_id=row["agent_id"])
    return passage_of(kept or row)


def delete_passage(journal: Journal, passage_id: str) -> None:
    """Remove a passage. Raises UnknownPassage."""
    row = passage_row(journal.connection, passage_id)
    journal.delete(PASSAGE, row, agent_id=row["agent_id"])


def delete_passages(journal: Journal, agent_id: str, passage_ids: Sequence[str]) -> int:
    """Remove those of an agent's passages that are there; how many they were."""
    rows = rows_of_ids(journal.connection, passage_ids)
    own = [row for row in rows if row["agent_id"] == agent_id]
    for row in own:
        journal.delete(PASSAGE, row, agent_id=agent_id)
    return len(own)


def count_reads(journal: Journal, passage_ids: Sequence[str]) -> None:
    """Note that passages were given to an agent. That changes nothing in them: no event."""
    journal.connection.executemany(
        "UPDATE passages SET reads = reads + 1, read_at = ? WHERE id = ?",
        [(journal.at, one) for one in passage_ids],
    )


def _problems(given: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    for number, one in enumerate(given):
        yield from problems(f"/{number}", one)


def _row(
    agent_id: str, given: Mapping[str, Any], passage_id: str, created_at: int
) -> dict[str, Any]:
    return {
        "id": passage_id,
        "agent_id": agent_id,
        **columns_of(given),
        "reads": 0,
        "read_at": None,
        "created_at": created_at,
    }
