"""A session as the graph tells it: how it went, what was delegated, what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.evidence import Counts
from dcf.knowledge.asking.errors import UnknownThing
from dcf.knowledge.asking.looking import look
from dcf.knowledge.asking.patterns import patterns
from dcf.knowledge.connection import GraphConnection
from dcf.knowledge.session_fact import TASK_COUNTS, DelegationFact, PatternFact, SessionFact

_WHAT = "a session"
_SESSION = "MATCH (n:Session {session_id: $id}) RETURN properties(n)"
_DELEGATIONS = """MATCH (e:Delegation {session_id: $id}) RETURN properties(e) LIMIT $most"""
MOST = 10_000
"""So many delegations of a session are told."""


@dataclass(frozen=True, slots=True)
class SessionAccount:
    """``session`` is None while only others have told of it. ``delegations`` in the order in which
    they ended, ``patterns`` the newest first."""

    session_id: str
    session: SessionFact | None
    delegations: tuple[DelegationFact, ...]
    patterns: tuple[PatternFact, ...]

    @property
    def counts(self) -> Counts:
        """Delegations that came to an end: what was done in part has not succeeded, what was
        cancelled does not count."""
        ended = [one for one in self.delegations if one.status != "cancelled"]
        won = sum(one.ok for one in ended)
        return Counts(won, len(ended) - won)

    def to_json(self) -> dict[str, Any]:
        low, high = self.counts.interval()
        return {
            "session_id": self.session_id,
            "session": self.session.to_json() if self.session else None,
            "n": self.counts.n,
            "ok": self.counts.successes,
            "low": round(low, 4),
            "high": round(high, 4),
            "delegations": [one.to_json() for one in self.delegations],
            "patterns": [{"kind": one.KIND, **one.to_json()} for one in self.patterns],
        }


async def session_account(graph: GraphConnection, session_id: str) -> SessionAccount:
    """The session with this id. Raises UnknownThing, GraphAway, GraphRefused, QuestionTooWide."""
    sessions = await look(graph, _WHAT, _SESSION, id=session_id)
    rows = await look(graph, _WHAT, _DELEGATIONS, id=session_id, most=MOST)
    if not sessions and not rows:
        raise UnknownThing(
            kind="session", name=session_id,
            hint="sessions are told as they go on, tasks when they end",
        )  # fmt: skip
    read = [_delegation_of(properties) for (properties,) in rows]
    told = [one for one in read if one is not None]
    return SessionAccount(
        session_id,
        next((session_of(properties) for (properties,) in sessions), None),
        tuple(sorted(told, key=lambda one: (one.finished_at, one.task_id))),
        tuple(await patterns(graph, session=session_id)),
    )


def session_of(properties: Mapping[str, Any]) -> SessionFact | None:
    """The session of a node; None where that has only its name, or is none that DCF wrote."""
    counts = {name: properties.get(f"tasks_{name}") for name in TASK_COUNTS}
    try:
        return SessionFact.from_json(
            {
                **properties,
                "created_at": properties["began_at"],
                "tasks": {name: count for name, count in counts.items() if count is not None},
            }
        )
    except (KeyError, TypeError):
        return None


def _delegation_of(properties: Mapping[str, Any]) -> DelegationFact | None:
    try:
        return DelegationFact.from_json(
            {
                **properties,
                "finished_at": properties["ended_at"],
                "error_code": properties.get("error"),
                "run_id": properties["workflow_id"],
            }
        )
    except (KeyError, TypeError):
        return None
