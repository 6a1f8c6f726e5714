"""Version 10: what several sources say is one observation, and each event is observed once."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=10,
    name="occurrences of observations",
    up=(
        "ALTER TABLE observations ADD COLUMN workflow TEXT NOT NULL DEFAULT ''",
        # How many sources said it; ``at`` is when it happened last.
        "ALTER TABLE observations ADD COLUMN times INTEGER NOT NULL DEFAULT 1",
        "CREATE INDEX observations_of ON observations (workflow, project, at, id)",
        # Each time that something happened which is kept once. ``note`` is of that source alone.
        """
        CREATE TABLE observation_origins (
            observation_id TEXT NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
            source_type TEXT NOT NULL,
            source_id TEXT NOT NULL,
            turn INTEGER,
            state TEXT,
            note TEXT NOT NULL DEFAULT '',
            at INTEGER NOT NULL,
            PRIMARY KEY (observation_id, source_type, source_id)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX observation_origins_from ON observation_origins (source_type, source_id)",
        # Events whose observations are kept, so that each gives them once.
        """
        CREATE TABLE observed_events (
            source_type TEXT NOT NULL,
            source_id TEXT NOT NULL,
            event TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (source_type, source_id, event)
        ) STRICT, WITHOUT ROWID
        """,
        # Up to when the events of a kind of source were looked through.
        """
        CREATE TABLE observed_until (
            source_type TEXT PRIMARY KEY,
            at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
    ),
    down=(
        "DROP TABLE observed_until",
        "DROP TABLE observed_events",
        "DROP TABLE observation_origins",
        "DROP INDEX observations_of",
        "ALTER TABLE observations DROP COLUMN times",
        "ALTER TABLE observations DROP COLUMN workflow",
    ),
)
