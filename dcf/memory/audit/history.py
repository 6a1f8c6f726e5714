"""Reading the record of changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dcf.memory.audit.event import Event
from dcf.memory.database import Connection


@dataclass(frozen=True, slots=True)
class Query:
    """Which events: each field that is not None must hold. ``since`` is in ms since the epoch,
    ``before`` and ``behind`` are event numbers: only older, only newer ones."""

    agent_id: str | None = None
    label: str | None = None
    entity: str | None = None
    entity_id: str | None = None
    operation: str | None = None
    consolidation_id: str | None = None
    since: int | None = None
    before: int | None = None
    behind: int | None = None


_COMPARED = {"since": "at >= ?", "before": "seq < ?", "behind": "seq > ?"}


def newest_first(
    connection: Connection, query: Query, *, limit: int | None = None
) -> Iterator[Event]:
    """The events that ``query`` means, at most ``limit``."""
    wanted = {
        name: getattr(query, name) for name in query.__slots__ if getattr(query, name) is not None
    }
    where = " AND ".join(_COMPARED.get(name, f"{name} = ?") for name in wanted) or "TRUE"
    rows = connection.execute(
        f"SELECT * FROM events WHERE {where} ORDER BY seq DESC LIMIT ?",
        (*wanted.values(), -1 if limit is None else max(limit, 0)),
    )
    return map(Event.of, rows)
