"""Version 20: documents, and the pieces of them that are searched."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=20,
    name="documents",
    up=(
        # By its stamp and its digest it is known whether a file changed since it was read.
        """
        CREATE TABLE documents (
            id TEXT PRIMARY KEY,
            project TEXT NOT NULL,
            path TEXT NOT NULL,
            title TEXT NOT NULL,
            format TEXT NOT NULL,
            size INTEGER NOT NULL,
            digest TEXT NOT NULL,
            stamp TEXT NOT NULL,
            reader INTEGER NOT NULL,
            pages INTEGER,
            pieces INTEGER NOT NULL,
            problems TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            read_at INTEGER NOT NULL,
            UNIQUE (project, path)
        ) STRICT
        """,
        """
        CREATE TABLE document_pieces (
            document_id TEXT NOT NULL REFERENCES documents (id),
            number INTEGER NOT NULL,
            text TEXT NOT NULL,
            headings TEXT NOT NULL,
            first_line INTEGER,
            last_line INTEGER,
            page INTEGER,
            id TEXT GENERATED ALWAYS AS (document_id || '/' || number) VIRTUAL,
            PRIMARY KEY (document_id, number)
        ) STRICT
        """,
        "CREATE UNIQUE INDEX document_pieces_id ON document_pieces (id)",
        """
        CREATE VIEW searched_pieces AS
        SELECT p.id, p.document_id, p.number AS seq, p.text, p.headings, p.first_line, p.last_line,
            p.page, d.title, d.path, d.project, d.read_at AS created_at, NULL AS agent_id
        FROM document_pieces p JOIN documents d ON d.id = p.document_id
        """,
    ),
    down=(
        "DROP VIEW searched_pieces",
        "DROP TABLE document_pieces",
        "DROP TABLE documents",
        # An index that has documents is made anew.
        "UPDATE search_state SET form = 0",
    ),
)
