"""Version 12: observations that people pinned."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=12,
    name="pinned observations",
    up=(
        """
        ALTER TABLE observations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0
            CHECK (pinned IN (0, 1))
        """,
        "CREATE INDEX observations_pinned ON observations (at, id) WHERE pinned = 1",
    ),
    down=(
        "DROP INDEX observations_pinned",
        "ALTER TABLE observations DROP COLUMN pinned",
    ),
)
