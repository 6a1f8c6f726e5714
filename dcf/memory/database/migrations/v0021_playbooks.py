"""Version 21: playbooks, which say what to do about errors that were seen before."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=21,
    name="playbooks",
    up=(
        # ``sources`` are no references: what a playbook was made from may be forgotten.
        """
        CREATE TABLE playbooks (
            id TEXT PRIMARY KEY,
            project TEXT NOT NULL,
            pattern TEXT NOT NULL,
            resolution TEXT NOT NULL,
            owner TEXT NOT NULL,
            sources TEXT NOT NULL,
            helped INTEGER NOT NULL,
            failed INTEGER NOT NULL,
            uses TEXT NOT NULL,
            confirmed_at INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX playbooks_of ON playbooks (project, created_at, id)",
    ),
    down=("DROP TABLE playbooks",),
)
