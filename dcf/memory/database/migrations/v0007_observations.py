"""Version 7: observations, threads, and an index in which projects have a space too."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=7,
    name="observations, threads, spaces of search",
    up=(
        # The form of the index is another: it is made anew when the memory is opened.
        "DROP TABLE search_agents",
        # Numbers are never used again: see search/place.py.
        """
        CREATE TABLE search_spaces (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            space TEXT NOT NULL UNIQUE
        ) STRICT
        """,
        # ``facts``, ``concepts``, ``artifacts`` and ``related`` are JSON arrays. ``digest`` is that
        # of who says what: the same from the same turn of a source is kept once. ``at`` is when it
        # happened, ``tokens`` what all of it costs a model.
        """
        CREATE TABLE observations (
            id TEXT PRIMARY KEY,
            project TEXT NOT NULL,
            type TEXT NOT NULL CHECK (
                type IN ('decision', 'bugfix', 'feature', 'refactor', 'discovery', 'change')
            ),
            title TEXT NOT NULL,
            subtitle TEXT NOT NULL DEFAULT '',
            facts TEXT NOT NULL DEFAULT '[]',
            narrative TEXT NOT NULL DEFAULT '',
            concepts TEXT NOT NULL DEFAULT '[]',
            artifacts TEXT NOT NULL DEFAULT '[]',
            related TEXT NOT NULL DEFAULT '[]',
            source_type TEXT NOT NULL,
            source_id TEXT NOT NULL,
            turn INTEGER,
            agent_id TEXT,
            digest TEXT NOT NULL UNIQUE,
            tokens INTEGER NOT NULL,
            at INTEGER NOT NULL,
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX observations_in ON observations (project, at, id)",
        "CREATE INDEX observations_by_time ON observations (at, id)",
        "CREATE INDEX observations_from ON observations (source_type, source_id, turn)",
        """
        CREATE TABLE threads (
            id TEXT PRIMARY KEY,
            source_type TEXT NOT NULL,
            source_id TEXT NOT NULL,
            project TEXT NOT NULL,
            title TEXT NOT NULL DEFAULT '',
            status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'abandoned')),
            turns INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            completed_at INTEGER,
            updated_at INTEGER NOT NULL,
            UNIQUE (source_type, source_id)
        ) STRICT
        """,
        "CREATE INDEX threads_in ON threads (project, started_at)",
        """
        CREATE TABLE thread_turns (
            thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
            number INTEGER NOT NULL CHECK (number > 0),
            role TEXT NOT NULL,
            text TEXT NOT NULL,
            at INTEGER,
            PRIMARY KEY (thread_id, number)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    down=(
        "DROP TABLE thread_turns",
        "DROP TABLE threads",
        "DROP TABLE observations",
        "DROP TABLE search_spaces",
        """
        CREATE TABLE search_agents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            agent_id TEXT NOT NULL UNIQUE
        ) STRICT
        """,
        "UPDATE search_state SET form = 0",
    ),
)
