"""Whether a memory file is whole, as SQLite sees it."""

from __future__ import annotations

from dcf.memory.database.connection import Connection


def damage(connection: Connection) -> tuple[str, ...]:
    """What is damaged in the file, in SQLite's words; nothing if it is whole."""
    pages = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    broken = [
        f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is not there"
        for row in connection.execute("PRAGMA foreign_key_check")
    ]
    return (*(line for line in pages if line != "ok"), *broken)
