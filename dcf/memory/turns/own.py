"""Turns that are over and that stand for themselves: work for no run, and not said in a session."""

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
    return tuple(
        OwnTurn(
            row["agent_id"],
            row["first"],
            row["project"],
            row["updated_at"],
            _calls(connection, row),
        )
        for row in rows
    )


def _calls(connection: Connection, turn: Any) -> tuple[AnsweredCall, ...]:
    agent_id = turn["agent_id"]
    tools = connection.execute("SELECT name FROM attached_tools WHERE agent_id = ?", (agent_id,))
    known = {row["name"] for row in tools}
    rows = connection.execute(
        "SELECT parts FROM messages WHERE agent_id = ? AND seq BETWEEN ? AND ? ORDER BY seq",
        (agent_id, turn["first"], turn["last"]),
    )
    parts = [part for row in rows for part in json.loads(row["parts"])]
    asked = {part["id"]: part["arguments"] for part in parts if part["kind"] == "call"}
    return tuple(
        AnsweredCall(part["tool"], asked[part["id"]], part["content"], bool(part["is_error"]))
        for part in parts
        if part["kind"] == "return" and part["tool"] in known and part["id"] in asked
    )
