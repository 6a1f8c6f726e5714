"""Observations that the program claude-mem has kept.

Its database is https://github.com/thedotmack/claude-mem, ``src/services/sqlite/schema.sql`` at
0e7117f. Its columns have come one by one; the session of an observation was called otherwise before
version 17. What is read are the columns that there are.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.memory.audit.clean_text import clean
from dcf.memory.checking import MOMENTS
from dcf.memory.errors import InvalidEntry
from dcf.memory.extraction import cut, visible
from dcf.memory.foreign_database import BUSY_S, reading
from dcf.memory.observation import (
    CONCEPTS,
    TYPES,
    Action,
    ArrivingObservation,
    Artifact,
    NewObservation,
    ObservationType,
    Occurrence,
    Origin,
)
from dcf.memory.observations.errors import NoClaudeMem
from dcf.memory.observations.fields import LONGEST_TITLE
from dcf.problem import Problem

_SESSIONS = (
    ("memory_session_id", "content_session_id"),
    ("sdk_session_id", "claude_session_id"),
)
"""What the session of an observation is called, and that of the user: from version 17, and before.
The second is the id that the user's program knows."""
_NEEDED = ("id", "project", "type", "created_at_epoch")
_OTHERS = ("session_summaries", "user_prompts", "directives")
"""Tables of what is no observation."""
_PLACED = {"type", "title", "subtitle", "facts", "narrative", "text", "concepts", "source"}
_PLACED |= {"files_read", "files_modified", "created_at_epoch", "memory_session_id"}
_PLACED |= {"sdk_session_id", "id", "created_at", "content_hash", "discovery_tokens"}
"""Columns that an observation has a place for, or that say again what others do, or what the making
of the row took."""
_ANY_TYPE: ObservationType = "change"


@dataclass(frozen=True, slots=True)
class ClaudeMemRow:
    """A row of its observations, and the project that it is to be of (None: as it is there)."""

    columns: Mapping[str, Any]
    project: str | None = None

    @property
    def number(self) -> int:
        """Its id there."""
        return int(self.columns["id"])

    def read(self) -> tuple[ArrivingObservation | None, tuple[str, ...]]:
        """The observation, None where the row has no words; and its type and concepts that nobody
        knows, which stand in the note with all else that has no place. Raises InvalidEntry where
        no time says when it was; what may be kept is judged where it is kept."""
        given = self.columns
        facts, subtitle = _texts(given.get("facts")), _text(given.get("subtitle"))
        narrative = _joined(given.get("narrative"), given.get("text"))
        whole = _line(_text(given.get("title")))
        title = cut(whole or _first_line(subtitle, *facts, narrative), LONGEST_TITLE)
        if not title:
            return None, ()
        # What is said by the title alone is not said again.
        told = "" if whole else title
        concepts = _texts(given.get("concepts"))
        at = _moment(given["created_at_epoch"])
        place = f"observation {self.number}"
        origin = Origin("claude_mem", _text(given["source"]), self._turn, place)
        new = NewObservation(
            next((one for one in TYPES if one == given["type"]), _ANY_TYPE),
            title,
            origin,
            project=_text(given["project"]) if self.project is None else self.project,
            subtitle="" if subtitle == told else subtitle,
            facts=tuple(one for one in facts if one != told),
            narrative="" if narrative == told else narrative,
            concepts=tuple(one for one in CONCEPTS if one in concepts),
            artifacts=(
                *_files(given.get("files_read"), "read"),
                *_files(given.get("files_modified"), "modified"),
            ),
            at=at,
            extracted=True,
        )
        strange = tuple(dict.fromkeys(one for one in concepts if one not in CONCEPTS))
        unknown = [f"concept {one}" for one in strange]
        said = {"concepts": ", ".join(strange), **self._others}
        if whole not in ("", title):
            said["title"] = whole
        if given["type"] not in TYPES:
            unknown.append(f"type {given['type']}")
            said["type"] = _text(given["type"])
        note = "\n".join(f"{name}: {value}" for name, value in said.items() if value.strip())
        seen, moves = (Occurrence(origin, note, at),), self.project is not None
        return ArrivingObservation(new, seen, follows=True, moves=moves), tuple(unknown)

    @property
    def _turn(self) -> int | None:
        turn = self.columns.get("prompt_number")
        return turn if isinstance(turn, int) and turn >= 0 else None

    @property
    def _others(self) -> dict[str, str]:
        """What stands in columns that an observation has no place for."""
        placed = _PLACED if self._turn is None else _PLACED | {"prompt_number"}
        return {name: _text(one) for name, one in self.columns.items() if name not in placed}


@dataclass(frozen=True, slots=True)
class ClaudeMem:
    """The database, while it is open; ``source`` is SQL for where an observation is from.
    ``projects`` are the names of its projects and how many observations each has, ``others`` how
    many rows stand in tables of what is no observation."""

    connection: sqlite3.Connection
    source: str
    projects: Mapping[str, int]
    others: Mapping[str, int]

    def rows(self, projects: Mapping[str, str] | None = None) -> Iterator[ClaudeMemRow]:
        """All rows, or those of these ``projects``, each with what its project is to be called."""
        found = self.connection.execute(
            f"SELECT *, {self.source} AS source FROM observations ORDER BY id"
        )
        for row in found:
            columns = dict(row)
            if projects is None:
                yield ClaudeMemRow(columns)
            elif columns["project"] in projects:
                yield ClaudeMemRow(columns, projects[columns["project"]])


@contextmanager
def open_claude_mem(file: Path, *, busy_s: float = BUSY_S) -> Iterator[ClaudeMem]:
    """The database in ``file``, of one moment; its program may go on using it, and is
    waited for ``busy_s``. Raises NoClaudeMem, DamagedDatabase, LockedDatabase, also from the block,
    OSError."""
    with reading(file, busy_s=busy_s) as connection:
        columns = _columns(connection, "observations")
        session, content = next((one for one in _SESSIONS if one[0] in columns), ("", ""))
        if not columns:
            raise NoClaudeMem(path=file, missing="it has no table observations")
        missing = [name for name in _NEEDED if name not in columns]
        missing += [] if session else [_SESSIONS[0][0]]
        if missing:
            told = f"its table observations has no column {', '.join(missing)}"
            raise NoClaudeMem(path=file, missing=told)
        yield ClaudeMem(
            connection,
            _source(session, content, _columns(connection, "sdk_sessions")),
            dict(
                connection.execute(
                    "SELECT project, count(*) FROM observations GROUP BY project ORDER BY 2 DESC, 1"
                ).fetchall()
            ),
            dict(_counts(connection, _OTHERS)),
        )


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {str(row["name"]) for row in connection.execute(f"PRAGMA table_info({table})")}


def _source(session: str, content: str, columns: set[str]) -> str:
    """SQL for the id of the user's session, or, where that is not known, of the observation's."""
    if not {session, content} <= columns:
        return session
    of = f"SELECT {content} FROM sdk_sessions s WHERE s.{session} = observations.{session}"
    return f"coalesce(nullif(({of}), ''), {session})"


def _counts(connection: sqlite3.Connection, tables: Iterable[str]) -> Iterator[tuple[str, int]]:
    for table in tables:
        if _columns(connection, table):
            count = int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            if count:
                yield table, count


def _line(text: str) -> str:
    return " ".join(visible(clean(text)).split())


def _first_line(*texts: str) -> str:
    lines = (_line(line) for text in texts for line in text.splitlines())
    return next(filter(None, lines), "")


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _joined(*parts: object) -> str:
    filled = [text for part in parts if (text := _text(part)).strip()]
    return "\n\n".join(dict.fromkeys(filled))


def _texts(value: object) -> tuple[str, ...]:
    """The texts of a list in JSON; what is no list is one text."""
    text = _text(value)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        read = text
    if read is None:
        return ()
    items: Sequence[object] = read if isinstance(read, list) else [read]
    texts = (one if isinstance(one, str) else json.dumps(one) for one in items)
    return tuple(one for one in texts if one.strip())


def _files(value: object, action: Action) -> Iterator[Artifact]:
    return (Artifact("file", one, action) for one in _texts(value))


def _moment(value: object) -> int:
    if isinstance(value, int) and 0 <= value < MOMENTS.stop:
        return value
    message = f"created_at_epoch is {value!r:.80}, not a time in ms since the epoch"
    problem = Problem("memory_claude_mem_time", message, "/created_at_epoch")
    raise InvalidEntry("the row", (problem,))
