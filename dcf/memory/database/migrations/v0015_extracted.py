"""Version 15: which observations a model found, what an edited one says, and which turns of threads
were queued for the extraction."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=15,
    name="extracted observations",
    up=(
        """
        ALTER TABLE observations ADD COLUMN extracted INTEGER NOT NULL DEFAULT 0
            CHECK (extracted IN (0, 1))
        """,
        # Until now only the notes of the extraction said so; what it found is of no workflow.
        """
        UPDATE observations SET extracted = 1
        WHERE source_type = 'claude_mem' OR (workflow = '' AND EXISTS (
            SELECT 1 FROM observation_origins o
            WHERE o.observation_id = observations.id AND o.note GLOB 'Found by ?*.'
        ))
        """,
        # The digest of what a person made of it; ``digest`` stays that of its source.
        "ALTER TABLE observations ADD COLUMN said TEXT",
        "CREATE INDEX observations_said ON observations (said) WHERE said IS NOT NULL",
        # When the clock said that it was sent; ``at`` never goes back, whatever the clock does.
        "ALTER TABLE extraction_requests ADD COLUMN sent_at INTEGER NOT NULL DEFAULT 0",
        "UPDATE extraction_requests SET sent_at = at",
        # Events that are done and whose rows are gone, and the observations in them.
        "ALTER TABLE extraction_standing ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE extraction_standing ADD COLUMN pruned_found INTEGER NOT NULL DEFAULT 0",
        """
        ALTER TABLE thread_turns ADD COLUMN queued INTEGER NOT NULL DEFAULT 0
            CHECK (queued IN (0, 1))
        """,
        """
        UPDATE thread_turns SET queued = 1 WHERE EXISTS (
            SELECT 1 FROM threads h JOIN extraction_events e ON e.source_type = h.source_type
            AND e.source_id = h.source_id AND e.event = CAST(thread_turns.number AS TEXT)
            WHERE h.id = thread_turns.thread_id
        )
        """,
        # An empty list of tools has two characters. The condition is that of the query.
        """
        CREATE INDEX thread_turns_to_queue ON thread_turns (thread_id, number)
        WHERE queued = 0 AND standing = 'current' AND length(text) + length(tools) - 2 >= 50
        """,
    ),
    down=(
        "DROP INDEX thread_turns_to_queue",
        "ALTER TABLE thread_turns DROP COLUMN queued",
        "ALTER TABLE extraction_standing DROP COLUMN pruned_found",
        "ALTER TABLE extraction_standing DROP COLUMN pruned",
        "ALTER TABLE extraction_requests DROP COLUMN sent_at",
        "DROP INDEX observations_said",
        "ALTER TABLE observations DROP COLUMN said",
        "ALTER TABLE observations DROP COLUMN extracted",
    ),
)
