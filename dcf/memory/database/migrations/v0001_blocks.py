"""Version 1: agents, blocks, and the record of every change."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=1,
    name="agents, blocks, events",
    up=(
        """
        CREATE TABLE agents (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            description TEXT NOT NULL DEFAULT '',
            role TEXT NOT NULL DEFAULT '',
            model TEXT,
            embedder TEXT,
            system TEXT NOT NULL DEFAULT '',
            context_window INTEGER NOT NULL,
            parallel_tool_calls INTEGER NOT NULL,
            enable_sleeptime INTEGER NOT NULL,
            lifecycle TEXT NOT NULL CHECK (lifecycle IN ('ephemeral', 'pooled', 'persistent')),
            template TEXT,
            template_digest TEXT,
            tags TEXT NOT NULL DEFAULT '[]',
            metadata TEXT NOT NULL DEFAULT '{}',
            extra TEXT NOT NULL DEFAULT '{}',
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        # A row for each tag of agents.tags, written with it: lists by tag must not read all agents.
        """
        CREATE TABLE agent_tags (
            tag TEXT NOT NULL,
            agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
            PRIMARY KEY (tag, agent_id)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX agent_tags_of ON agent_tags (agent_id)",
        # What blocks of these labels are made with; those of ``is_default`` every new agent has.
        """
        CREATE TABLE block_labels (
            label TEXT PRIMARY KEY,
            type TEXT NOT NULL CHECK (type IN ('global', 'project', 'shared')),
            description TEXT NOT NULL DEFAULT '',
            soft_limit INTEGER,
            hard_limit INTEGER,
            on_limit TEXT NOT NULL CHECK (on_limit IN ('warn', 'truncate', 'reject')),
            read_only INTEGER NOT NULL,
            is_default INTEGER NOT NULL,
            position INTEGER NOT NULL
        ) STRICT
        """,
        """
        INSERT INTO block_labels VALUES
            ('persona', 'global', 'Who this agent is and how it behaves.',
             6400, 8000, 'reject', 0, 1, 1),
            ('human', 'global', 'What is known of the person it works with, and their preferences.',
             3200, 4000, 'reject', 0, 1, 2),
            ('project', 'project', 'What is known of the project: purpose, structure, decisions.',
             12800, 16000, 'reject', 0, 1, 3),
            ('skills', 'project', 'The skills there are, by name and description.',
             25600, 32000, 'reject', 1, 1, 4),
            ('loaded_skills', 'project', 'The skills loaded now, with their instructions.',
             25600, 32000, 'reject', 1, 1, 5),
            ('style', 'project', 'How to write: tone, language, form.',
             1600, 2000, 'reject', 0, 1, 6)
        """,
        """
        CREATE TABLE blocks (
            id TEXT PRIMARY KEY,
            label TEXT NOT NULL,
            type TEXT NOT NULL CHECK (type IN ('global', 'project', 'shared')),
            value TEXT NOT NULL,
            description TEXT NOT NULL DEFAULT '',
            soft_limit INTEGER,
            hard_limit INTEGER,
            on_limit TEXT NOT NULL CHECK (on_limit IN ('warn', 'truncate', 'reject')),
            read_only INTEGER NOT NULL,
            provenance TEXT NOT NULL,
            project TEXT,
            metadata TEXT NOT NULL DEFAULT '{}',
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX blocks_by_label ON blocks (label)",
        # No cascade: what goes with an agent goes through the journal, so that it can come back.
        """
        CREATE TABLE block_holders (
            agent_id TEXT NOT NULL REFERENCES agents (id),
            block_id TEXT NOT NULL REFERENCES blocks (id),
            label TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (agent_id, label)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX block_holders_of ON block_holders (block_id)",
        # No reference to agents: what was done to an agent is known after it is gone.
        """
        CREATE TABLE events (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            actor_kind TEXT NOT NULL,
            actor TEXT NOT NULL,
            reason TEXT NOT NULL DEFAULT '',
            operation TEXT NOT NULL,
            entity TEXT NOT NULL,
            entity_id TEXT NOT NULL,
            agent_id TEXT,
            label TEXT,
            change TEXT NOT NULL,
            consolidation_id TEXT,
            back_to INTEGER
        ) STRICT
        """,
        "CREATE INDEX events_of_agent ON events (agent_id, seq)",
        "CREATE INDEX events_of_entity ON events (entity, entity_id, seq)",
        """
        CREATE INDEX events_of_consolidation ON events (consolidation_id, seq)
        WHERE consolidation_id IS NOT NULL
        """,
    ),
    down=(
        "DROP TABLE events",
        "DROP TABLE block_holders",
        "DROP TABLE blocks",
        "DROP TABLE block_labels",
        "DROP TABLE agent_tags",
        "DROP TABLE agents",
    ),
)
