"""A table of keys and values in an SQLite database that may be damaged, or cut: each row that is
whole is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from dcf.memory.threads.readers.json_stream import entries
from dcf.memory.threads.readers.tally import Tally

_CODE = "transcript-database"


class KeyValues:
    """The table ``table`` (columns ``key`` and ``value``), whose values are JSON."""

    def __init__(self, connection: sqlite3.Connection, table: str, tally: Tally) -> None:
        self._connection = connection
        self._table = table
        self._tally = tally
        self._numbers: dict[str, int] | None = None
        """The numbers of the rows by their keys, where the index is damaged."""

    def keys(self, prefix: str) -> list[str]:
        """The keys that begin with ``prefix``, which ends with ``:``."""
        if self._numbers is None:
            try:
                found = self._connection.execute(
                    f"SELECT key FROM {self._table} WHERE key >= ? AND key < ?",
                    (prefix, prefix[:-1] + ";"),
                )
                return [row["key"] for row in found]
            except sqlite3.Error as error:
                self._report(f"the index of {self._table}", error)
                self._numbers = dict(self._scanned())
        return [key for key in self._numbers if key.startswith(prefix)]

    def object(self, key: str) -> Mapping[str, Any] | None:
        """The object at ``key``; None where there is none, or it is damaged, which is reported."""
        by, name = ("key", key) if self._numbers is None else ("rowid", self._numbers.get(key))
        try:
            row = self._connection.execute(
                f"SELECT value FROM {self._table} WHERE {by} = ?", (name,)
            ).fetchone()
        except sqlite3.Error as error:
            self._report(key, error)
            return None
        value = None if row is None else row["value"]
        if isinstance(value, str):
            value = value.encode()
        if not isinstance(value, bytes) or not value.strip():
            return None
        return next((one.value for one in entries([value], self._tally)), None)

    def _scanned(self) -> Iterator[tuple[str, int]]:
        """The rows up to the first that is damaged."""
        try:
            rows = self._connection.execute(
                f"SELECT key, rowid FROM {self._table} NOT INDEXED ORDER BY rowid"
            )
            for row in rows:
                if isinstance(row["key"], str):
                    yield row["key"], row["rowid"]
        except sqlite3.Error as error:
            self._report(f"the table {self._table} behind its first rows", error)

    def _report(self, what: str, error: sqlite3.Error) -> None:
        hint = "what is whole was read; open it with its program once, or take a backup of it"
        self._tally.report(_CODE, f"{what} cannot be read: {error}", hint=hint, cut=True)


def tables_of(connection: sqlite3.Connection) -> frozenset[str]:
    """The tables that have keys and values."""
    found = connection.execute(
        "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND c.name IN ('key', 'value') GROUP BY m.name HAVING count(*) = 2"
    )
    return frozenset(row["name"] for row in found)
