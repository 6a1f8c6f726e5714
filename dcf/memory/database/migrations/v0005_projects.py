"""Version 5: projects, sessions, scratch pads, skills, and how far back history goes."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=5,
    name="projects, sessions, scratch pads, skills, border of history",
    up=(
        # No reference to agents: which agent was there last is known after it is gone.
        """
        CREATE TABLE projects (
            id TEXT PRIMARY KEY,
            path TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            last_agent_id TEXT,
            metadata TEXT NOT NULL DEFAULT '{}',
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE project_blocks (
            project_id TEXT NOT NULL REFERENCES projects (id),
            block_id TEXT NOT NULL REFERENCES blocks (id),
            label TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (project_id, label)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX project_blocks_of ON project_blocks (block_id)",
        """
        CREATE TABLE project_agents (
            agent_id TEXT PRIMARY KEY REFERENCES agents (id),
            project_id TEXT NOT NULL REFERENCES projects (id),
            entered_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX project_agents_in ON project_agents (project_id)",
        # What an agent sees: its own blocks, and those of the project that it works in, which stand
        # in place of its own under the same label.
        """
        CREATE VIEW held_blocks AS
        SELECT h.agent_id, h.block_id, h.label, h.position, NULL AS project_id
        FROM block_holders h
        WHERE NOT EXISTS (
            SELECT 1 FROM project_agents a JOIN project_blocks p ON p.project_id = a.project_id
            WHERE a.agent_id = h.agent_id AND p.label = h.label
        )
        UNION ALL
        SELECT a.agent_id, p.block_id, p.label, p.position, p.project_id
        FROM project_agents a JOIN project_blocks p ON p.project_id = a.project_id
        """,
        # Sessions and scratch pads are logs, as turns are: no events, and no reference to agents.
        """
        CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            project TEXT,
            skills_directory TEXT,
            has_loaded_skills INTEGER NOT NULL,
            end_reason TEXT,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            updated_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX sessions_of ON sessions (agent_id, started_at)",
        "CREATE INDEX sessions_in ON sessions (project, started_at)",
        # ``value`` is there until the pad ends; ``bytes`` and ``digest`` say what it was.
        """
        CREATE TABLE scratch_pads (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            task TEXT NOT NULL,
            value TEXT NOT NULL,
            most_bytes INTEGER NOT NULL,
            writes INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            outcome TEXT CHECK (outcome IN ('done', 'failed', 'expired')),
            bytes INTEGER NOT NULL,
            digest TEXT,
            created_at INTEGER NOT NULL,
            ended_at INTEGER,
            updated_at INTEGER NOT NULL,
            CHECK ((outcome IS NULL) = (ended_at IS NULL)),
            CHECK (outcome IS NULL OR value = '')
        ) STRICT
        """,
        """
        CREATE UNIQUE INDEX scratch_pads_open ON scratch_pads (agent_id, task)
        WHERE outcome IS NULL
        """,
        "CREATE INDEX scratch_pads_of ON scratch_pads (agent_id, created_at)",
        """
        CREATE TABLE skills (
            agent_id TEXT NOT NULL REFERENCES agents (id),
            name TEXT NOT NULL,
            description TEXT NOT NULL,
            content TEXT NOT NULL,
            config TEXT NOT NULL DEFAULT '{}',
            files TEXT NOT NULL DEFAULT '[]',
            source TEXT NOT NULL,
            loaded_as INTEGER,
            revision INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            PRIMARY KEY (agent_id, name)
        ) STRICT
        """,
        # Events up to ``seq`` were given up, but for the last of each row that is still there.
        """
        CREATE TABLE history_border (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            seq INTEGER NOT NULL,
            moved_at INTEGER
        ) STRICT
        """,
        "INSERT INTO history_border VALUES (1, 0, NULL)",
        # Consolidations of which an event was given up.
        "CREATE TABLE forgotten_consolidations (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID",
    ),
    down=(
        "DROP TABLE forgotten_consolidations",
        "DROP TABLE history_border",
        "DROP TABLE skills",
        "DROP TABLE scratch_pads",
        "DROP TABLE sessions",
        "DROP VIEW held_blocks",
        "DROP TABLE project_agents",
        "DROP TABLE project_blocks",
        "DROP TABLE projects",
    ),
)
