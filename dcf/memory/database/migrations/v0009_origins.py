"""Version 9: the state that an observation is from, and the tools of a thread's turns."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=9,
    name="states of observations, tools of turns",
    up=(
        "ALTER TABLE observations ADD COLUMN state TEXT",
        # A JSON array.
        "ALTER TABLE thread_turns ADD COLUMN tools TEXT NOT NULL DEFAULT '[]'",
    ),
    down=(
        "ALTER TABLE thread_turns DROP COLUMN tools",
        "ALTER TABLE observations DROP COLUMN state",
    ),
)
