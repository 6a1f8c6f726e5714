"""What agents called in their turns: in those that are work for a run, and in those that stand for
themselves, which are work for no run and are not said in a session either."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dcf.memory.database import Connection

_CONDUCTOR = "role:conductor"
"""The tag of agents that lead sessions: what they hear and say stands in those."""

# A turn with a holder is work for a run, which has a history itself.
OWN_TURNS = f"""
    FROM turns t JOIN agents a ON a.id = t.agent_id
    LEFT JOIN project_agents p ON p.agent_id = t.agent_id
    LEFT JOIN projects f ON f.id = p.project_id
    WHERE t.state <> 'running' AND t.holder IS NULL
    AND NOT EXISTS (SELECT 1 FROM json_each(a.tags) WHERE value = '{_CONDUCTOR}')
"""
# One that was interrupted ended where the next one began.
LAST = """
    coalesce(t.last, (SELECT min(n.first) - 1 FROM turns n
        WHERE n.agent_id = t.agent_id AND n.first > t.first))
"""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of a tool with what it put out, ``is_error`` where it failed."""

    tool: str
    arguments: Any
    content: Any
    is_error: bool


@dataclass(frozen=True, slots=True)
class OwnTurn:
    """A turn, its first message, the project that its agent works in ("" for none) and the calls in
    it of tools that the agent has, in their order; ``at`` is when it ended (ms)."""

    agent_id: str
    first: int
    project: str
    at: int
    calls: tuple[AnsweredCall, ...]


def own_turns_since(connection: Connection, since: int) -> tuple[OwnTurn, ...]:
    """The turns that ended then (ms) or later, in which something was called."""
    rows = connection.execute(
        f"SELECT t.agent_id, t.first, coalesce(f.path, '') AS project, t.updated_at, {LAST} AS last"
        f" {OWN_TURNS} AND t.updated_at >= ? AND t.tool_calls > 0 ORDER BY t.updated_at, t.id",
        (since,),
    ).fetchall()
    return tuple(_own(connection, row) for row in rows)


def calls_for_run(connection: Connection, run_id: str, end: str) -> tuple[AnsweredCall, ...]:
    """What agents called that worked for a run, as far as they are there still. ``end`` is how the
    incarnation of the run ends: another run of its id, and one that was redriven, has another."""
    rows = connection.execute(
        f"SELECT t.agent_id, t.first, {LAST} AS last FROM turns t"
        " WHERE substr(t.holder, 1, length(?1)) = ?1 AND substr(t.holder, -length(?2)) = ?2"
        " ORDER BY t.created_at, t.id",
        (f"{run_id}/", f"/{end}"),
    ).fetchall()
    return tuple(call for row in rows for call in _calls(connection, row))


def _own(connection: Connection, row: Any) -> OwnTurn:
    tools = _tools(connection, row["agent_id"])
    calls = tuple(call for call in _calls(connection, row) if call.tool in tools)
    return OwnTurn(row["agent_id"], row["first"], row["project"], row["updated_at"], calls)


def _tools(connection: Connection, agent_id: str) -> set[str]:
    """The names of the tools that the agent has."""
    rows = connection.execute("SELECT name FROM attached_tools WHERE agent_id = ?", (agent_id,))
    return {row["name"] for row in rows}


def _calls(connection: Connection, turn: Any) -> tuple[AnsweredCall, ...]:
    rows = connection.execute(
        "SELECT parts FROM messages WHERE agent_id = ? AND seq BETWEEN ? AND ? ORDER BY seq",
        (turn["agent_id"], turn["first"], turn["last"]),
    )
    parts = [part for row in rows for part in json.loads(row["parts"])]
    asked = {part["id"]: part["arguments"] for part in parts if part["kind"] == "call"}
    return tuple(
        AnsweredCall(part["tool"], asked[part["id"]], part["content"], bool(part["is_error"]))
        for part in parts
        if part["kind"] == "return" and part["id"] in asked
    )
