"""Turns of threads as events that a model can be asked about."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dcf.memory.database import Connection
from dcf.memory.entities import THREAD_TURN
from dcf.memory.extraction.claims import Claim, NewEvent
from dcf.memory.extraction.prompt import EventKind, SourceEvent, as_text
from dcf.memory.ledger import Ledger

LEAST = 50
"""Characters of a turn below which nothing in it is worth a request."""
_CI = ("github_actions", "junit")

# As the index has it, so that no other turns are read. An empty list of tools has two characters.
# What was edited at its source is another turn now.
_TELLING = f"""
    FROM thread_turns t INDEXED BY thread_turns_to_queue JOIN threads h ON h.id = t.thread_id
    WHERE t.queued = 0 AND t.standing = 'current'
    AND length(t.text) + length(t.tools) - 2 >= {LEAST}
"""


class ThreadTurns:
    """The turns of the threads in a memory: those that no model was asked about, and what is in
    one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def new(self, limit: int) -> Sequence[NewEvent]:
        """At most ``limit`` turns that were never queued, the newest threads first."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                f"SELECT h.source_type, h.source_id, t.number, h.project {_TELLING}"
                " ORDER BY h.started_at DESC, h.id, t.number LIMIT ?",
                (limit,),
            ).fetchall()
        )
        return [NewEvent(row[0], row[1], str(row[2]), row[3]) for row in rows]

    async def count(self) -> int:
        """How many turns were never queued."""
        return await self._ledger.read(
            lambda connection: int(connection.execute(f"SELECT count(*) {_TELLING}").fetchone()[0])
        )

    async def read(self, claim: Claim) -> SourceEvent | None:
        """What was said and done in the turn of a claim; None where it is gone."""
        return await self._ledger.read(lambda connection: _event(connection, claim))


def _event(connection: Connection, claim: Claim) -> SourceEvent | None:
    found = connection.execute(
        f"SELECT t.* FROM {THREAD_TURN.table} t JOIN threads h ON h.id = t.thread_id"
        " WHERE h.source_type = ? AND h.source_id = ? AND t.number = ?",
        (claim.source_type, claim.source_id, int(claim.event)),
    ).fetchone()
    if found is None:
        return None
    tools = json.loads(found["tools"])
    kind: EventKind = "message"
    if tools or claim.source_type in _CI:
        kind = "ci-log" if claim.source_type in _CI else "tool-output"
    return SourceEvent(
        origin=claim.origin,
        kind=kind,
        project=claim.project,
        tool=", ".join(dict.fromkeys(tool["name"] for tool in tools)),
        input="\n".join(as_text(tool["input"]) for tool in tools),
        output="\n".join(tool["output"] for tool in tools),
        said=f"{found['role']}: {found['text']}" if found["text"] else "",
        failed=any(tool["failed"] for tool in tools),
        at=found["at"],
    )
