"""Version 3: inboxes, turns, and the tools of agents."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=3,
    name="letters, turns, attached tools",
    up=(
        # No reference to agents: a letter has no event of its own, and undoing what made an agent
        # must not stumble over its inbox.
        """
        CREATE TABLE letters (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            sender TEXT NOT NULL,
            text TEXT NOT NULL,
            correlation_id TEXT NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('waiting', 'taken', 'answered', 'failed', 'expired')),
            deadline INTEGER NOT NULL,
            tries INTEGER NOT NULL,
            taken_until INTEGER,
            reply TEXT,
            error TEXT,
            cause TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX letters_to ON letters (agent_id, created_at)",
        """
        CREATE INDEX letters_open ON letters (created_at, id)
        WHERE state IN ('waiting', 'taken')
        """,
        "CREATE INDEX letters_about ON letters (correlation_id, agent_id)",
        """
        CREATE TABLE turns (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            correlation_id TEXT NOT NULL,
            letter_id TEXT UNIQUE,
            state TEXT NOT NULL CHECK (state IN ('running', 'answered', 'failed')),
            first INTEGER NOT NULL,
            last INTEGER,
            model TEXT NOT NULL,
            requests INTEGER NOT NULL,
            tool_calls INTEGER NOT NULL,
            input_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            cost_usd REAL,
            duration_ms REAL NOT NULL,
            error TEXT,
            cause TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX turns_of_agent ON turns (agent_id, first)",
        """
        CREATE TABLE attached_tools (
            agent_id TEXT NOT NULL REFERENCES agents (id),
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            input_schema TEXT NOT NULL,
            PRIMARY KEY (agent_id, name)
        ) STRICT, WITHOUT ROWID
        """,
    ),
    down=("DROP TABLE attached_tools", "DROP TABLE turns", "DROP TABLE letters"),
)
