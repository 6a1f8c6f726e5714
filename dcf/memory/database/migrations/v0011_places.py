"""Version 11: turns of threads are known by an id or a digest, and have a place at their source;
files of other programs that were read."""

from __future__ import annotations

import hashlib
import json

from dcf.memory.database.connection import Connection
from dcf.memory.database.migration import Migration


def _mark(connection: Connection) -> None:
    """The turns that are kept stand where their numbers say."""
    rows = connection.execute("SELECT thread_id, number, role, text, tools, at FROM thread_turns")
    for thread_id, number, role, text, tools, at in [tuple(row) for row in rows]:
        content = json.dumps([role, text, tools, at], ensure_ascii=False).encode()
        connection.execute(
            "UPDATE thread_turns SET digest = ?, place = number, standing = 'current'"
            " WHERE thread_id = ? AND number = ?",
            (hashlib.sha256(content).digest()[:16], thread_id, number),
        )


STEP = Migration(
    version=11,
    name="places of turns, files of threads",
    up=(
        # What the source calls it; '' where it gives no ids.
        "ALTER TABLE thread_turns ADD COLUMN key TEXT NOT NULL DEFAULT ''",
        # Of role, text, tools and time.
        "ALTER TABLE thread_turns ADD COLUMN digest BLOB NOT NULL DEFAULT x''",
        # Where it stands at the source now, from 1.
        "ALTER TABLE thread_turns ADD COLUMN place INTEGER",
        """
        ALTER TABLE thread_turns ADD COLUMN standing TEXT NOT NULL DEFAULT 'arriving'
            CHECK (standing IN ('arriving', 'current', 'rewound', 'edited', 'gone'))
        """,
        "ALTER TABLE threads ADD COLUMN parent TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE threads ADD COLUMN current INTEGER NOT NULL DEFAULT 0",
        _mark,
        "UPDATE threads SET current = turns",
        "CREATE INDEX thread_turns_marked ON thread_turns (thread_id, digest, key)",
        "CREATE INDEX threads_of_parent ON threads (source_type, parent) WHERE parent <> ''",
        # A file that has not changed since is not read again.
        """
        CREATE TABLE thread_files (
            path TEXT PRIMARY KEY,
            stamp TEXT NOT NULL,
            reader INTEGER NOT NULL,
            report TEXT NOT NULL,
            synced_at INTEGER NOT NULL
        ) STRICT
        """,
    ),
    down=(
        "DROP TABLE thread_files",
        "DROP INDEX threads_of_parent",
        "DROP INDEX thread_turns_marked",
        "ALTER TABLE threads DROP COLUMN current",
        "ALTER TABLE threads DROP COLUMN parent",
        "ALTER TABLE thread_turns DROP COLUMN standing",
        "ALTER TABLE thread_turns DROP COLUMN place",
        "ALTER TABLE thread_turns DROP COLUMN digest",
        "ALTER TABLE thread_turns DROP COLUMN key",
    ),
)
