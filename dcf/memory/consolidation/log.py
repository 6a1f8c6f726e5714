"""The log of consolidations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dcf.memory.checking import json_of
from dcf.memory.consolidation.errors import UnknownConsolidation
from dcf.memory.consolidation.session import ConsolidationChange, LeftOut, Metrics, Session
from dcf.memory.database import Connection
from dcf.memory.entities import CONSOLIDATION

_PLAIN = (
    "id",
    "agent_id",
    "status",
    "actor",
    "level",
    "tokens",
    "started_at",
    "completed_at",
    "rolled_back_at",
)


def keep_session(connection: Connection, session: Session) -> None:
    """Log a session, in the transaction of its changes."""
    row = {name: getattr(session, name) for name in _PLAIN} | {
        "strategies": json_of(session.strategies),
        "before": json_of(asdict(session.before)),
        "after": json_of(asdict(session.after)),
        "changes": json_of([asdict(one) for one in session.changes]),
        "left_out": json_of([asdict(one) for one in session.left_out]),
    }
    CONSOLIDATION.insert(connection, row)


def sessions(connection: Connection, agent_id: str | None, limit: int) -> tuple[Session, ...]:
    """The newest sessions of an agent (None: of all), the newest first."""
    where = "" if agent_id is None else " WHERE agent_id = ?"
    rows = connection.execute(
        f"SELECT * FROM consolidation_sessions{where}"
        " ORDER BY completed_at DESC, rowid DESC LIMIT ?",
        (*(() if agent_id is None else (agent_id,)), max(limit, 0)),
    )
    return tuple(map(_session, rows))


def session_at(connection: Connection, session_id: str) -> Session:
    """One session. Raises UnknownConsolidation."""
    row = connection.execute(
        "SELECT * FROM consolidation_sessions WHERE id = ?", (session_id,)
    ).fetchone()
    if row is None:
        raise UnknownConsolidation(session_id=session_id)
    return _session(row)


def _session(row: Mapping[str, Any]) -> Session:
    return Session(
        **{name: row[name] for name in _PLAIN},
        strategies=tuple(json.loads(row["strategies"])),
        before=Metrics(**json.loads(row["before"])),
        after=Metrics(**json.loads(row["after"])),
        changes=tuple(ConsolidationChange(**one) for one in json.loads(row["changes"])),
        left_out=tuple(LeftOut(**one) for one in json.loads(row["left_out"])),
    )
