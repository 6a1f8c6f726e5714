"""Version 23: the turns beside one are found without reading all of its thread."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=23,
    name="turns in order",
    up=(
        """
        CREATE INDEX thread_turns_in_order ON thread_turns (thread_id, place)
            WHERE standing = 'current'
        """,
    ),
    down=("DROP INDEX thread_turns_in_order",),
)
