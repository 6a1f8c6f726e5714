"""What goes with a row and comes back with it: rows of several tables as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dcf.memory.audit.entity import Entity, Row
from dcf.memory.database import Connection


@dataclass(frozen=True, slots=True)
class Belongings(Entity):
    """All rows of other entities (``parts``) that belong to one row, whose id is their column
    ``key``: one event for all of them, however many they are. A row of it has a list for each part,
    by its table."""

    parts: tuple[Entity, ...] = ()

    def find(self, connection: Connection, entity_id: str) -> dict[str, Any] | None:
        """All that belongs to the row with this id; None for nothing."""
        lists = {one.table: list(self._rows(connection, one, entity_id)) for one in self.parts}
        return {self.key[0]: entity_id, **lists} if any(lists.values()) else None

    def insert(self, connection: Connection, row: Row) -> dict[str, Any]:
        """Add all of it; as it is kept. Raises InvalidEntry."""
        kept = {
            one.table: [one.insert(connection, it) for it in row[one.table]] for one in self.parts
        }
        return {self.key[0]: row[self.key[0]], **kept}

    def replace(
        self, connection: Connection, row: Row, before: Row | None = None
    ) -> dict[str, Any]:
        """Put all of it in the place of what is there; as it is kept. Raises InvalidEntry."""
        self.delete(connection, row)
        return self.insert(connection, row)

    def delete(self, connection: Connection, row: Row) -> None:
        """Remove all of it."""
        for one in self.parts:
            connection.execute(
                f"DELETE FROM {one.table} WHERE {self.key[0]} = ?", (row[self.key[0]],)
            )

    def _rows(self, connection: Connection, part: Entity, of: str) -> Iterator[dict[str, Any]]:
        rows = connection.execute(
            f"SELECT * FROM {part.table} WHERE {self.key[0]} = ? ORDER BY {', '.join(part.key)}",
            (of,),
        )
        return map(dict, rows)
