"""The kinds of rows whose changes are recorded and can be undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dcf.memory.audit.clean_text import clean_row
from dcf.memory.database import Connection

Row: TypeAlias = Mapping[str, Any]
"""A row by its columns, as SQLite has them."""

Turn: TypeAlias = tuple[Row | None, Row | None]
"""A row before and after a change (None: there is none)."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A table whose rows are ``name``. ``key`` are the columns that say which row, ``long`` the
    columns of which history keeps edits, ``own`` those that only go forward and are never undone:
    how often and when a row was changed. ``owner`` is the column with the agent to whom the row
    belongs, if that is so: it is removed with the agent. ``unique`` is the column, if there is one,
    that no two rows have alike, ``number`` one that no two rows of the same owner
    have alike. Texts in ``unkept`` columns are in no history: it has an empty one instead.

    Texts are kept without secrets, all but ``codes``, which this program makes or knows. By the
    columns ``names`` rows are found: those are kept as they are, and refused with a credential."""

    name: str
    table: str
    key: tuple[str, ...]
    long: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset({"revision", "updated_at"})
    owner: str | None = None
    unique: str | None = None
    number: str | None = None
    unkept: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset({"id"})

    def id_of(self, row: Row) -> str:
        """The row's id in events."""
        return "/".join(str(row[column]) for column in self.key)

    def find(self, connection: Connection, entity_id: str) -> dict[str, Any] | None:
        """The row with this id, if there is one."""
        # Only the last column of a key may have a slash in it.
        values = entity_id.split("/", len(self.key) - 1)
        where = " AND ".join(f"{column} = ?" for column in self.key)
        found = connection.execute(f"SELECT * FROM {self.table} WHERE {where}", values).fetchone()
        return None if found is None else dict(found)

    def of_owner(self, connection: Connection, agent_id: str) -> list[dict[str, Any]]:
        """The rows that belong to an agent."""
        if self.owner is None:
            return []
        rows = connection.execute(
            f"SELECT * FROM {self.table} WHERE {self.owner} = ? ORDER BY {', '.join(self.key)}",
            (agent_id,),
        )
        return [dict(row) for row in rows]

    def cleaned(self, row: Row, before: Row | None = None) -> dict[str, Any]:
        """``row`` as it is kept, written over ``before``. Raises InvalidEntry."""
        return clean_row(self.name, row, names=self.names, codes=self.codes, before=before)

    def insert(self, connection: Connection, row: Row) -> dict[str, Any]:
        """Add ``row``; as it is kept. Raises InvalidEntry."""
        row = self.cleaned(row)
        columns = ", ".join(row)
        places = ", ".join("?" * len(row))
        connection.execute(
            f"INSERT INTO {self.table} ({columns}) VALUES ({places})", tuple(row.values())
        )
        return row

    def replace(
        self, connection: Connection, row: Row, before: Row | None = None
    ) -> dict[str, Any]:
        """Write every column of ``row`` but its key over ``before``, if that is known; the row as
        it is kept. Raises InvalidEntry."""
        row = self.cleaned(row, before)
        columns = [column for column in row if column not in self.key]
        sets = ", ".join(f"{column} = ?" for column in columns)
        where = " AND ".join(f"{column} = ?" for column in self.key)
        values = [row[column] for column in (*columns, *self.key)]
        connection.execute(f"UPDATE {self.table} SET {sets} WHERE {where}", values)
        return row

    def release(self, connection: Connection, row: Row | None) -> None:
        """Let others have what only one row can have; this one is to be written again."""
        if self.unique is not None and row is not None:
            # No text of ours has a NUL.
            connection.execute(
                f"UPDATE {self.table} SET {self.unique} = char(0) || {self.key[0]}"
                f" WHERE {self.key[0]} = ?",
                (row[self.key[0]],),
            )

    def delete(self, connection: Connection, row: Row) -> None:
        """Remove ``row``."""
        where = " AND ".join(f"{column} = ?" for column in self.key)
        connection.execute(
            f"DELETE FROM {self.table} WHERE {where}", [row[column] for column in self.key]
        )
