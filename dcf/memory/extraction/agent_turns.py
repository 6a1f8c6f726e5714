"""Turns of agents as events that a model can be asked about: what they were told, what they said,
which tools they called and what these put out."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dcf.memory.database import Connection
from dcf.memory.extraction.claims import AGENT, Claim, NewEvent
from dcf.memory.extraction.prompt import SourceEvent, as_text
from dcf.memory.extraction.thread_turns import LEAST
from dcf.memory.ledger import Ledger
from dcf.memory.observation import Origin
from dcf.memory.turns.calls import LAST, OWN_TURNS

# Turns have numbers that never change: those of their first messages. Marks of events of agents are
# kept for good.
_TELLING = f"""
    {OWN_TURNS}
    AND NOT EXISTS (SELECT 1 FROM extraction_events e WHERE e.source_type = '{AGENT}'
        AND e.source_id = t.agent_id AND e.event = CAST(t.first AS TEXT))
    AND NOT EXISTS (SELECT 1 FROM observed_events o WHERE o.source_type = '{AGENT}'
        AND o.source_id = t.agent_id AND o.event = 'model ' || t.first)
    AND (SELECT sum(length(m.content) + length(m.parts) - 2) FROM messages m
        WHERE m.agent_id = t.agent_id AND m.seq BETWEEN t.first AND {LAST}) >= {LEAST}
"""


class AgentTurns:
    """The turns of the agents in a memory: those that no model was asked about, and what is in
    one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def new(self, limit: int) -> Sequence[NewEvent]:
        """At most ``limit`` turns that are over and were never queued, the newest first."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                f"SELECT t.agent_id, t.first, f.path {_TELLING}"
                " ORDER BY t.created_at DESC, t.id LIMIT ?",
                (limit,),
            ).fetchall()
        )
        return [NewEvent(AGENT, row[0], str(row[1]), row[2] or "") for row in rows]

    async def count(self) -> int:
        """How many turns are over and were never queued."""
        return await self._ledger.read(
            lambda connection: int(connection.execute(f"SELECT count(*) {_TELLING}").fetchone()[0])
        )

    async def read(self, claim: Claim) -> SourceEvent | None:
        """What was said and done in the turn of a claim; None where it is gone."""
        return await self._ledger.read(lambda connection: _event(connection, claim))


def _event(connection: Connection, claim: Claim) -> SourceEvent | None:
    turn = connection.execute(
        f"SELECT t.*, {LAST} AS until FROM turns t WHERE t.agent_id = ? AND t.first = ?",
        (claim.source_id, int(claim.event)),
    ).fetchone()
    if turn is None:
        return None
    rows = connection.execute(
        "SELECT * FROM messages WHERE agent_id = ? AND seq BETWEEN ? AND ?"
        " AND role <> 'summary' ORDER BY seq",
        (claim.source_id, turn["first"], turn["until"]),
    ).fetchall()
    parts = [part for row in rows for part in json.loads(row["parts"])]
    calls = [part for part in parts if part["kind"] == "call"]
    returns = [part for part in parts if part["kind"] == "return"]
    said = [
        f"{row['sender'] or row['role']}: {row['content']}"
        for row in rows
        if row["content"] and row["role"] in ("user", "assistant")
    ]
    if turn["error"]:
        said.append(f"The turn failed with {turn['error']}: {turn['cause'] or ''}")
    return SourceEvent(
        origin=Origin(AGENT, claim.source_id, turn["first"]),
        kind="tool-output" if calls else "message",
        project=claim.project,
        tool=", ".join(dict.fromkeys(part["tool"] for part in calls)),
        input="\n".join(f"{part['tool']} {as_text(part['arguments'])}" for part in calls),
        output="\n".join(f"{part['tool']}: {as_text(part['content'])}" for part in returns),
        said="\n".join(said),
        failed=turn["state"] == "failed" or any(part.get("is_error") for part in returns),
        at=turn["updated_at"],
    )
