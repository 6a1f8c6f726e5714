"""Sessions and their rows. Without events, as messages are: undoing what an agent remembers must
not end the session in which that is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.checking import refuse, text_problems
from dcf.memory.database import Connection
from dcf.memory.entities import AGENT, SESSION
from dcf.memory.projects import ensure_project, enter, known_row, note_agent
from dcf.memory.session import Session
from dcf.memory.sessions.errors import SessionEnded, UnknownSession
from dcf.problem import Problem

MOVED = "the agent went to another project"


def session_of(row: Row) -> Session:
    """The session in a row."""
    known = {field.name: row[field.name] for field in fields(Session)}
    return Session(**{**known, "has_loaded_skills": bool(row["has_loaded_skills"])})


def session_row(connection: Connection, session_id: str) -> dict[str, Any]:
    """The row of a session. Raises UnknownSession."""
    found = SESSION.find(connection, session_id)
    if found is None:
        raise UnknownSession(session_id=session_id)
    return found


def begin_session(
    journal: Journal, agent_id: str, project: str | None, skills_directory: str | None
) -> Session:
    """Begin a session; with ``project`` the agent enters it. Raises UnknownAgent, InvalidEntry."""
    agent_row(journal.connection, agent_id)
    refuse("the session", _problems(skills_directory))
    path = None
    if project is not None:
        found = ensure_project(journal, project)
        path = found["path"]
        _end_elsewhere(journal, agent_id, path)
        enter(journal, agent_id, found)
        note_agent(journal, found, agent_id)
    row = {
        "id": journal.new_id("session"),
        "agent_id": agent_id,
        "project": path,
        "skills_directory": skills_directory,
        "has_loaded_skills": 0,
        "end_reason": None,
        "started_at": journal.at,
        "ended_at": None,
        "updated_at": journal.at,
    }
    return session_of(SESSION.insert(journal.connection, row))


def resume_session(journal: Journal, project: str) -> Session | None:
    """Begin a session with the agent that was the project's last, with the skills directory of
    its last session there; None if there is no such project or agent."""
    found = known_row(journal.connection, project)
    agent_id = None if found is None else found["last_agent_id"]
    if found is None or agent_id is None or AGENT.find(journal.connection, agent_id) is None:
        return None
    last = journal.connection.execute(
        "SELECT skills_directory FROM sessions WHERE project = ? AND agent_id = ?"
        " ORDER BY started_at DESC, id DESC LIMIT 1",
        (found["path"], agent_id),
    ).fetchone()
    directory = None if last is None else last["skills_directory"]
    return begin_session(journal, agent_id, found["path"], directory)


def end_session(journal: Journal, session_id: str, reason: str) -> Session:
    """End a session; one that has ended stays as it is. Raises UnknownSession, InvalidEntry."""
    refuse("the reason", text_problems("/reason", reason))
    row = session_row(journal.connection, session_id)
    if row["ended_at"] is not None:
        return session_of(row)
    return _written(journal, row, {"ended_at": journal.at, "end_reason": reason})


def note_loaded_skills(journal: Journal, session_id: str, loaded: bool) -> Session:
    """Note whether skills were loaded. Raises UnknownSession, SessionEnded."""
    row = session_row(journal.connection, session_id)
    if row["ended_at"] is not None:
        raise SessionEnded(session_id=session_id, reason=row["end_reason"] or "no reason was given")
    return _written(journal, row, {"has_loaded_skills": int(loaded)})


def _end_elsewhere(journal: Journal, agent_id: str, path: str) -> None:
    """An agent works in one project at a time: its sessions in others are over."""
    rows = journal.connection.execute(
        "SELECT * FROM sessions WHERE agent_id = ? AND ended_at IS NULL AND project IS NOT NULL"
        " AND project <> ?",
        (agent_id, path),
    )
    for row in map(dict, rows.fetchall()):
        _written(journal, row, {"ended_at": journal.at, "end_reason": MOVED})


def _written(journal: Journal, row: dict[str, Any], columns: dict[str, Any]) -> Session:
    after = {**row, **columns, "updated_at": journal.at}
    return session_of(SESSION.replace(journal.connection, after, row))


def _problems(skills_directory: str | None) -> Iterator[Problem]:
    if skills_directory is not None:
        yield from text_problems("/skills_directory", skills_directory, filled=True)
