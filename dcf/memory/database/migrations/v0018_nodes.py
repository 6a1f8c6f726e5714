"""Version 18: trees of nodes, each with its entries, and a space of search for each node."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=18,
    name="nodes",
    up=(
        # ``address`` is made of project, checkpoint and name. A root has neither of the last two,
        # and no parent. Only the parent is kept of a node's place: who moves a tree writes one row.
        """
        CREATE TABLE nodes (
            id TEXT PRIMARY KEY,
            project TEXT NOT NULL,
            checkpoint TEXT NOT NULL,
            name TEXT NOT NULL,
            address TEXT NOT NULL UNIQUE,
            parent TEXT REFERENCES nodes (id),
            title TEXT NOT NULL DEFAULT '',
            score REAL,
            metadata TEXT NOT NULL DEFAULT '{}',
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            CHECK ((parent IS NULL) = (checkpoint = ''))
        ) STRICT
        """,
        "CREATE INDEX nodes_below ON nodes (parent, created_at, id)",
        "CREATE INDEX nodes_in ON nodes (project, checkpoint)",
        # ``shadows`` is no reference: what an ancestor had may be gone.
        """
        CREATE TABLE node_entries (
            id TEXT PRIMARY KEY,
            node_id TEXT NOT NULL REFERENCES nodes (id),
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            metadata TEXT NOT NULL DEFAULT '{}',
            shadows TEXT,
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX node_entries_in ON node_entries (node_id, created_at, id)",
        "CREATE UNIQUE INDEX node_entries_shadow ON node_entries (shadows, node_id)"
        " WHERE shadows IS NOT NULL",
        """
        CREATE VIEW searched_entries AS
        SELECT e.rowid AS number, e.*, n.project, NULL AS agent_id
        FROM node_entries e JOIN nodes n ON n.id = e.node_id
        """,
    ),
    down=(
        "DROP VIEW searched_entries",
        "DROP TABLE node_entries",
        "DROP TABLE nodes",
        # An index that has entries is made anew.
        "UPDATE search_state SET form = 0",
    ),
)
