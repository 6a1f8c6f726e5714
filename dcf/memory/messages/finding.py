"""Finding messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.database import Connection


@dataclass(frozen=True, slots=True)
class Page:
    """Which messages: those numbered above ``after`` and below ``before``, of one session, archived
    or not (None: both); at most ``limit``, the newest of them if ``newest``."""

    after: int = 0
    before: int | None = None
    limit: int = 100
    newest: bool = False
    session_id: str | None = None
    archived: bool | None = None


def message_rows(connection: Connection, agent_id: str, page: Page) -> list[dict[str, Any]]:
    """The rows of a page, in the order of the conversation. Raises UnknownAgent."""
    agent_row(connection, agent_id)
    where = ["agent_id = ?", "seq > ?"]
    values: list[object] = [agent_id, page.after]
    if page.before is not None:
        where.append("seq < ?")
        values.append(page.before)
    if page.session_id is not None:
        where.append("session_id = ?")
        values.append(page.session_id)
    if page.archived is not None:
        where.append(f"archived_at IS {'NOT ' if page.archived else ''}NULL")
    rows = connection.execute(
        f"SELECT * FROM messages WHERE {' AND '.join(where)}"
        f" ORDER BY seq {'DESC' if page.newest else 'ASC'} LIMIT ?",
        [*values, max(page.limit, 0)],
    )
    found = [dict(row) for row in rows]
    return found[::-1] if page.newest else found


def last_seq(connection: Connection, agent_id: str) -> int:
    """The number of the last message; 0 if there is none."""
    row = connection.execute(
        "SELECT max(seq) FROM messages WHERE agent_id = ?", (agent_id,)
    ).fetchone()
    return int(row[0] or 0)


def live_rows(connection: Connection, agent_id: str) -> list[dict[str, Any]]:
    """The rows that stand in the context if there is room, in the order in which they stand there:
    not what is archived or what a summary stands for, and each summary in place of that."""
    summaries = [
        dict(row)
        for row in connection.execute(
            "SELECT * FROM messages WHERE agent_id = ? AND role = 'summary'"
            " ORDER BY replaces_first, replaces_last DESC, seq DESC",
            (agent_id,),
        )
    ]
    # Ranges lie beside or inside one another; of equal ones the newer counts.
    outer: list[dict[str, Any]] = []
    for row in summaries:
        if not outer or row["replaces_first"] > outer[-1]["replaces_last"]:
            outer.append(row)
    # What an archived summary stands for does not come back.
    found = [row for row in outer if row["archived_at"] is None]
    start = 1
    for begin, end in [(r["replaces_first"], r["replaces_last"]) for r in outer] + [(None, None)]:
        found += _plain_rows(connection, agent_id, start, begin)
        start = (end or 0) + 1
    return sorted(found, key=lambda row: row["replaces_first"] or row["seq"])


def _plain_rows(
    connection: Connection, agent_id: str, first: int, before: int | None
) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT * FROM messages WHERE agent_id = ? AND seq >= ? AND (? IS NULL OR seq < ?)"
        " AND role <> 'summary' AND archived_at IS NULL ORDER BY seq",
        (agent_id, first, before, before),
    )
    return [dict(row) for row in rows]
