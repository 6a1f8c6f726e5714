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
from dcf.memory.passages.finding import passage_row
from dcf.problem import Problem


def insert(journal: Journal, agent_id: str, new: Sequence[NewPassage]) -> tuple[Passage, ...]:
    """Add passages, all or none. Raises UnknownAgent, InvalidEntry with all that is wrong."""
    agent_row(journal.connection, agent_id)
    given = [fields_of(one) for one in new]
    refuse("the passage", _problems(given))
    rows = [_row(journal, agent_id, one) for one in given]
    return tuple(map(passage_of, journal.create_all(PASSAGE, rows, agent_id=agent_id)))


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


def count_reads(journal: Journal, passage_ids: Sequence[str]) -> None:
    """Note that passages were given to an agent. That changes nothing in them: no event."""
    journal.connection.executemany(
        "UPDATE passages SET reads = reads + 1, read_at = ? WHERE id = ?",
        [(journal.at, one) for one in passage_ids],
    )


def _problems(given: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    for number, one in enumerate(given):
        yield from problems(f"/{number}", one)


def _row(journal: Journal, agent_id: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": journal.new_id("passage"),
        "agent_id": agent_id,
        **columns_of(given),
        "reads": 0,
        "read_at": None,
        "created_at": journal.at,
    }
