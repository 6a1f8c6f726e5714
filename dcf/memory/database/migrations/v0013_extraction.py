"""Version 13: events whose observations a model is to find, and what that may cost."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=13,
    name="events for extraction",
    up=(
        # ``number`` is the order in the queue. Whoever works on an event has its ``fence`` and
        # holds it ``until``; nobody takes it before it is ``due``. ``begun`` counts claims,
        # ``failures`` answers that could not be used, ``found`` the observations of one that is
        # done.
        """
        CREATE TABLE extraction_events (
            number INTEGER PRIMARY KEY,
            source_type TEXT NOT NULL,
            source_id TEXT NOT NULL,
            event TEXT NOT NULL,
            project TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL CHECK (state IN ('waiting', 'claimed', 'done', 'set_aside')),
            fence INTEGER NOT NULL DEFAULT 0,
            until INTEGER NOT NULL DEFAULT 0,
            due INTEGER NOT NULL DEFAULT 0,
            begun INTEGER NOT NULL DEFAULT 0,
            failures INTEGER NOT NULL DEFAULT 0,
            reason TEXT NOT NULL DEFAULT '',
            found INTEGER NOT NULL DEFAULT 0,
            queued_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            UNIQUE (source_type, source_id, event)
        ) STRICT
        """,
        "CREATE INDEX extraction_events_in ON extraction_events (state, due, number)",
        # Requests to models of the last day: what was reserved, and in its place what was used.
        # ``nano_usd`` is NULL where nobody knows the price.
        """
        CREATE TABLE extraction_requests (
            number INTEGER PRIMARY KEY,
            model TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            nano_usd INTEGER,
            at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX extraction_requests_by_time ON extraction_requests (at)",
        # One row. ``stopped_for`` is a digest of the model and key that were refused; nobody asks
        # before ``paused_until``; ``pauses`` counts those that followed each other; ``refused``
        # counts events for which the queue had no room.
        """
        CREATE TABLE extraction_standing (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            stopped_reason TEXT NOT NULL DEFAULT '',
            stopped_for TEXT NOT NULL DEFAULT '',
            stopped_at INTEGER,
            paused_reason TEXT NOT NULL DEFAULT '',
            paused_until INTEGER NOT NULL DEFAULT 0,
            pauses INTEGER NOT NULL DEFAULT 0,
            refused INTEGER NOT NULL DEFAULT 0,
            refused_at INTEGER
        ) STRICT
        """,
        "INSERT INTO extraction_standing (id) VALUES (1)",
    ),
    down=(
        "DROP TABLE extraction_standing",
        "DROP TABLE extraction_requests",
        "DROP TABLE extraction_events",
    ),
)
