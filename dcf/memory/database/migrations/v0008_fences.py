"""Version 8: turns that belong to other work have its fence."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=8,
    name="fences of turns",
    up=(
        "ALTER TABLE turns ADD COLUMN holder TEXT",
        "ALTER TABLE turns ADD COLUMN fence INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX turns_of_holder ON turns (agent_id, holder, fence) WHERE holder IS NOT NULL",
    ),
    down=(
        "DROP INDEX turns_of_holder",
        "ALTER TABLE turns DROP COLUMN fence",
        "ALTER TABLE turns DROP COLUMN holder",
    ),
)
