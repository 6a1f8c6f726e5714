"""Version 2: messages, passages, and the index that search reads."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=2,
    name="messages, passages, search",
    up=(
        """
        CREATE TABLE messages (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL REFERENCES agents (id),
            seq INTEGER NOT NULL CHECK (seq > 0),
            role TEXT NOT NULL
                CHECK (role IN ('system', 'user', 'assistant', 'tool', 'summary')),
            content TEXT NOT NULL,
            parts TEXT NOT NULL DEFAULT '[]',
            tokens INTEGER NOT NULL,
            session_id TEXT,
            run_id TEXT,
            sender TEXT,
            correlation_id TEXT,
            replaces_first INTEGER,
            replaces_last INTEGER,
            archived_at INTEGER,
            created_at INTEGER NOT NULL,
            UNIQUE (agent_id, seq),
            CHECK ((role = 'summary') = (replaces_first IS NOT NULL)),
            CHECK ((replaces_first IS NULL) = (replaces_last IS NULL))
        ) STRICT
        """,
        """
        CREATE INDEX messages_of_session ON messages (agent_id, session_id, seq)
        WHERE session_id IS NOT NULL
        """,
        "CREATE INDEX summaries ON messages (agent_id, seq) WHERE role = 'summary'",
        """
        CREATE TABLE passages (
            id TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL REFERENCES agents (id),
            text TEXT NOT NULL,
            tags TEXT NOT NULL DEFAULT '[]',
            salience REAL NOT NULL CHECK (salience BETWEEN 0 AND 1),
            source TEXT NOT NULL DEFAULT '',
            reads INTEGER NOT NULL DEFAULT 0,
            read_at INTEGER,
            created_at INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX passages_of_agent ON passages (agent_id, created_at, id)",
        # What follows is derived from rows and can be made anew from them. ``form`` is that of the
        # index (0: it is to be made), ``version`` counts indexed texts; ``embedder`` made the
        # vectors, of all texts up to version ``embedded``.
        """
        CREATE TABLE search_state (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            form INTEGER NOT NULL,
            version INTEGER NOT NULL,
            embedder TEXT NOT NULL,
            embedded INTEGER NOT NULL
        ) STRICT
        """,
        "INSERT INTO search_state VALUES (1, 0, 0, '', 0)",
        # Numbers are never used again: see search/place.py.
        """
        CREATE TABLE search_agents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            agent_id TEXT NOT NULL UNIQUE
        ) STRICT
        """,
        """
        CREATE TABLE search_documents (
            place INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            ref TEXT NOT NULL,
            length INTEGER NOT NULL,
            version INTEGER NOT NULL,
            UNIQUE (kind, ref)
        ) STRICT
        """,
        "CREATE INDEX search_documents_by_version ON search_documents (version)",
        # How many documents stand in each range of places, and how many words they have.
        """
        CREATE TABLE search_ranges (
            range INTEGER PRIMARY KEY,
            documents INTEGER NOT NULL,
            words INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE search_vectors (
            place INTEGER PRIMARY KEY,
            value BLOB NOT NULL
        ) STRICT
        """,
        # Marks belong to their letters, as in dcf.search.
        """
        CREATE VIRTUAL TABLE search_words USING fts5 (
            text, about, content = '', columnsize = 0, detail = column,
            tokenize = "porter unicode61 categories 'L* N* M*'"
        )
        """,
        "CREATE VIRTUAL TABLE search_terms USING fts5vocab (search_words, instance)",
    ),
    down=(
        "DROP TABLE search_terms",
        "DROP TABLE search_words",
        "DROP TABLE search_vectors",
        "DROP TABLE search_ranges",
        "DROP TABLE search_documents",
        "DROP TABLE search_agents",
        "DROP TABLE search_state",
        "DROP TABLE passages",
        "DROP TABLE messages",
    ),
)
