"""Version 19: who read entries of nodes; and entries of a node by their kinds."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=19,
    name="node_reads",
    up=(
        # No references: what was read stays on record when the node is gone.
        """
        CREATE TABLE node_reads (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            by_kind TEXT NOT NULL,
            by_name TEXT NOT NULL,
            by_reason TEXT NOT NULL,
            operation TEXT NOT NULL,
            node_id TEXT,
            node TEXT,
            source_id TEXT,
            source TEXT,
            entries TEXT NOT NULL,
            count INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX node_entries_kinds ON node_entries (node_id, kind)",
    ),
    down=("DROP INDEX node_entries_kinds", "DROP TABLE node_reads"),
)
