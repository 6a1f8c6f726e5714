"""Version 22: what was forgotten for good."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=22,
    name="receipts",
    up=(
        # ``about`` is a digest. ``unreached`` is a JSON array; ``ended_at`` is NULL while more may
        # have to go.
        """
        CREATE TABLE receipts (
            id TEXT PRIMARY KEY,
            about TEXT NOT NULL,
            by_kind TEXT NOT NULL,
            by_name TEXT NOT NULL,
            by_reason TEXT NOT NULL,
            began_at INTEGER NOT NULL,
            ended_at INTEGER,
            unreached TEXT NOT NULL DEFAULT '[]'
        ) STRICT
        """,
        # What is left of a row. No reference to it: it is gone.
        """
        CREATE TABLE tombstones (
            receipt_id TEXT NOT NULL REFERENCES receipts (id),
            number INTEGER NOT NULL,
            store TEXT NOT NULL,
            kind TEXT NOT NULL,
            ref TEXT NOT NULL,
            fate TEXT NOT NULL CHECK (fate IN ('removed', 'emptied', 'renamed', 'history')),
            digest TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (receipt_id, number)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX tombstones_of ON tombstones (kind, ref)",
    ),
    down=("DROP TABLE tombstones", "DROP TABLE receipts"),
)
