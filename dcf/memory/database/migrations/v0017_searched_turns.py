"""Version 17: turns of threads are searched."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=17,
    name="searched turns",
    up=(
        # By it the index of search names a turn.
        """
        ALTER TABLE thread_turns ADD COLUMN id TEXT
            GENERATED ALWAYS AS (thread_id || '/' || number) VIRTUAL
        """,
        "CREATE UNIQUE INDEX thread_turns_id ON thread_turns (id)",
        """
        CREATE VIEW searched_turns AS
        SELECT t.id, t.thread_id, t.number AS seq, t.role, t.text, t.tools,
            coalesce(t.at, h.started_at) AS created_at, h.project, NULL AS agent_id
        FROM thread_turns t JOIN threads h ON h.id = t.thread_id
        WHERE t.standing = 'current'
        """,
    ),
    down=(
        "DROP VIEW searched_turns",
        "DROP INDEX thread_turns_id",
        "ALTER TABLE thread_turns DROP COLUMN id",
        # An index that has turns is made anew.
        "UPDATE search_state SET form = 0",
    ),
)
