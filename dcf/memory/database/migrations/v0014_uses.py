"""Version 14: observations that answers cited."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=14,
    name="uses of observations",
    up=(
        "ALTER TABLE observations ADD COLUMN used INTEGER NOT NULL DEFAULT 0",
        # Who cited it: work that is done again counts once.
        """
        CREATE TABLE observation_uses (
            observation_id TEXT NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
            used_by TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (observation_id, used_by)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    down=(
        "DROP TABLE observation_uses",
        "ALTER TABLE observations DROP COLUMN used",
    ),
)
