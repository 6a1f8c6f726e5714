"""Finding passages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.database import Connection
from dcf.memory.entities import PASSAGE
from dcf.memory.passage import Passage
from dcf.memory.passages.errors import UnknownPassage
from dcf.memory.passages.fields import passage_of


def passage_row(connection: Connection, passage_id: str) -> dict[str, Any]:
    """The row of a passage. Raises UnknownPassage."""
    found = PASSAGE.find(connection, passage_id)
    if found is None:
        raise UnknownPassage(passage_id=passage_id)
    return found


def rows_of_ids(connection: Connection, passage_ids: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of those of ``passage_ids`` that are there, in this order."""
    rows = connection.execute(
        "SELECT p.* FROM json_each(?) asked JOIN passages p ON p.id = asked.value"
        " ORDER BY asked.key",
        (json.dumps(passage_ids),),
    )
    return [dict(row) for row in rows]


def ids_once_there(
    connection: Connection, passage_ids: Sequence[str], but: str | None = None
) -> list[str]:
    """Those of ``passage_ids`` that history speaks of, whether they are there or were deleted, but
    those last deleted for the reason ``but``."""
    rows = connection.execute(
        "SELECT asked.value, max(e.seq), e.reason FROM json_each(?) asked"
        " JOIN events e ON e.entity = ? AND e.entity_id = asked.value"
        # The columns of the last event, as SQLite has them beside max().
        " GROUP BY asked.value HAVING e.reason IS NOT ? OR e.change -> '$.deleted' IS NULL",
        (json.dumps(passage_ids), PASSAGE.name, but),
    )
    return [row[0] for row in rows]


def deleted_ids(connection: Connection, agent_id: str, but: str | None = None) -> list[str]:
    """Ids of an agent's passages that are gone, as far as history goes back, but those last deleted
    for the reason ``but``."""
    rows = connection.execute(
        "SELECT entity_id, max(seq), reason FROM events WHERE agent_id = ? AND entity = ?"
        " AND change -> '$.deleted' IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM passages WHERE id = entity_id)"
        " GROUP BY entity_id HAVING reason IS NOT ?",
        (agent_id, PASSAGE.name, but),
    )
    return [row[0] for row in rows]


def passage_rows(
    connection: Connection,
    agent_id: str,
    *,
    tags: Sequence[str],
    limit: int,
    without: Sequence[str] = (),
    after: str | Passage | None,
) -> list[dict[str, Any]]:
    """An agent's passages that have all ``tags`` and none of ``without``, oldest first, from behind
    the passage ``after``. Raises UnknownAgent, UnknownPassage."""
    agent_row(connection, agent_id)
    where: list[str] = ["agent_id = ?"]
    values: list[str | int] = [agent_id]
    if after is not None:
        last = after if isinstance(after, Passage) else passage_of(passage_row(connection, after))
        where.append("(created_at, id) > (?, ?)")
        values += [last.created_at, last.id]
    for tag in tags:
        where.append("EXISTS (SELECT 1 FROM json_each(passages.tags) WHERE value = ?)")
        values.append(tag)
    if without:
        where.append(
            "NOT EXISTS (SELECT 1 FROM json_each(passages.tags)"
            " WHERE value IN (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(list(without)))
    rows = connection.execute(
        f"SELECT * FROM passages WHERE {' AND '.join(where)} ORDER BY created_at, id LIMIT ?",
        [*values, max(limit, 0)],
    )
    return [dict(row) for row in rows]
