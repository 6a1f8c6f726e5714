"""Version 4: the log of consolidations, and history that is kept compressed."""

from __future__ import annotations

import json

from dcf.memory.database.connection import Connection
from dcf.memory.database.migration import Migration
from dcf.memory.database.packing import unpacked


def _unpack_all(connection: Connection) -> None:
    """Give every event its long texts back: earlier versions read them where they were."""
    packed = connection.execute("SELECT seq, change, packed FROM events WHERE packed IS NOT NULL")
    for row in packed.fetchall():
        change = json.dumps(unpacked(json.loads(row["change"]), row["packed"]), ensure_ascii=False)
        connection.execute("UPDATE events SET change = ? WHERE seq = ?", (change, row["seq"]))


STEP = Migration(
    version=4,
    name="consolidation sessions, packed events",
    up=(
        # No reference to agents: what was done to an agent is known after it is gone. ``metrics``
        # before and after, ``changes`` and ``left_out`` are JSON: consolidation/session.py.
        """
        CREATE TABLE consolidation_sessions (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('completed', 'unchanged', 'rolled_back')),
            actor TEXT NOT NULL,
            strategies TEXT NOT NULL,
            level INTEGER NOT NULL,
            before TEXT NOT NULL,
            after TEXT NOT NULL,
            changes TEXT NOT NULL,
            left_out TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            completed_at INTEGER NOT NULL,
            rolled_back_at INTEGER
        ) STRICT
        """,
        """
        CREATE INDEX consolidation_sessions_of
        ON consolidation_sessions (agent_id, completed_at)
        """,
        # Who consolidates an agent now. A row of somebody who went away counts until ``until``.
        """
        CREATE TABLE consolidation_claims (
            agent_id TEXT PRIMARY KEY,
            session_id TEXT NOT NULL,
            until INTEGER NOT NULL
        ) STRICT
        """,
        # The long texts of ``change``, compressed: database/packing.py.
        "ALTER TABLE events ADD COLUMN packed BLOB",
        """
        CREATE INDEX events_to_pack ON events (agent_id, at)
        WHERE packed IS NULL AND length(change) >= 1024
        """,
    ),
    down=(
        _unpack_all,
        "DROP INDEX events_to_pack",
        "ALTER TABLE events DROP COLUMN packed",
        "DROP TABLE consolidation_claims",
        "DROP TABLE consolidation_sessions",
    ),
)
