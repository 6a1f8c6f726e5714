"""Databases as the program claude-mem has made them over time: the tables that hold observations,
with the columns of several versions of its schema.

The columns are those of https://github.com/thedotmack/claude-mem,
``src/services/sqlite/migrations/runner.ts`` at 04edca9 (versions 4 to 20) and
``src/services/sqlite/schema.sql`` at 0e7117f (version 35).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

AT = 1_767_793_529_778
"""ms: 2026-01-07T13:45:29.778Z."""
VERSIONS = (4, 8, 16, 17, 35)
_PARTS = ("title", "subtitle", "facts", "narrative", "concepts", "files_read", "files_modified")
_LATE = ("content_hash", "agent_type", "agent_id", "merged_into_project", "generated_by_model")


def columns_of(version: int) -> tuple[str, ...]:
    """The columns of ``observations`` in a version of the schema, but for ``id``."""
    session = "sdk_session_id" if version < 17 else "memory_session_id"
    columns = [session, "project", "text", "type", "created_at", "created_at_epoch"]
    columns += ["prompt_number", *_PARTS] if version >= 8 else []
    columns += ["discovery_tokens"] if version >= 11 else []
    return (*columns, *_LATE, "metadata") if version >= 35 else tuple(columns)


def make_database(file: Path, rows: Iterable[dict[str, Any]] = (), version: int = 35) -> Path:
    """A database with these rows, each of the session ``memory-1`` of the user's ``content-1``
    unless it says otherwise; lists become JSON, as the program writes them."""
    content = "claude_session_id" if version < 17 else "content_session_id"
    memory = "sdk_session_id" if version < 17 else "memory_session_id"
    columns = columns_of(version)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER)")
        connection.execute("INSERT INTO schema_versions (version) VALUES (?)", (version,))
        connection.execute(
            f"CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, {content} TEXT UNIQUE NOT NULL,"
            f" {memory} TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT)"
        )
        connection.execute(
            f"INSERT INTO sdk_sessions ({content}, {memory}, project) VALUES (?, ?, ?)",
            ("content-1", "memory-1", "shop"),
        )
        typed = [_typed(column, version) for column in columns]
        connection.execute(
            f"CREATE TABLE observations (id INTEGER PRIMARY KEY, {', '.join(typed)})"
        )
        connection.execute("CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, request TEXT)")
        for row in rows:
            add_row(connection, row, version)
    return file


def add_row(connection: sqlite3.Connection, row: dict[str, Any], version: int = 35) -> None:
    """Add a row; what it does not say is as the program writes it."""
    session = "sdk_session_id" if version < 17 else "memory_session_id"
    given = {session: "memory-1", "project": "shop", "type": "change", "created_at": "2026-01-07"}
    given |= {"created_at_epoch": AT, "text": "" if version < 9 else None, **row}
    values = [json.dumps(one) if isinstance(one, list) else one for one in given.values()]
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO observations ({', '.join(given)}) VALUES ({marks})", values)


def _typed(column: str, version: int) -> str:
    if column in ("prompt_number", "discovery_tokens", "created_at_epoch"):
        return f"{column} INTEGER"
    filled = ("memory_session_id", "sdk_session_id", "project", "type", "created_at")
    needed = column in filled or (column == "text" and version < 9)
    return f"{column} TEXT NOT NULL" if needed else f"{column} TEXT"
