"""Who works on a turn: one at a time with each agent, however many processes there are.

A turn that is worked on has an ``updated_at`` that is not long ago. One that belongs to other work
has the fence of that work too: who has a lower number can neither begin a turn nor write in one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import AGENT, LETTER, TURN
from dcf.memory.scratch_pads import end_task
from dcf.memory.turn_record import TurnFence, TurnRecord
from dcf.memory.turns.errors import TurnFenced, TurnLost, TurnUnderWay

_LOOKED_AT = 20
"""Turns follow each other: one that is under way is among the last ones."""
_OVER = "another turn of the agent began while nobody was known to work on this one"
_TAKEN_OVER = "{holder} was taken over"


def refuse_second(
    journal: Journal, agent_id: str, own: Row | None, *, lease_ms: int, fence: TurnFence | None
) -> None:
    """Raises TurnUnderWay while somebody works on a turn of the agent that is not ``own``, and
    TurnFenced where ``fence`` is not the newest. Turns that nobody works on are over from now on,
    but for those of letters that wait still: they are taken up again. A turn of the same holder is
    over at once, and so is one of whoever had the agent before it was lent."""
    if fence is not None:
        _refuse_older(journal.connection, agent_id, fence)
    rows = journal.connection.execute(
        "SELECT * FROM turns WHERE agent_id = ? ORDER BY first DESC LIMIT ?", (agent_id, _LOOKED_AT)
    ).fetchall()
    running = [dict(row) for row in rows if row["state"] == "running"]
    others = [row for row in running if own is None or row["id"] != own["id"]]
    taken = [row for row in others if fence is not None and _is_taken_over(row, fence)]
    # A sign of life from a far future is that of a wrong clock, and would count for ever.
    if any(abs(journal.at - row["updated_at"]) < lease_ms for row in others if row not in taken):
        raise TurnUnderWay(agent_id=agent_id)
    for row in others:
        if row["letter_id"] is None or not _waits(journal, row["letter_id"]):
            cause = _TAKEN_OVER.format_map(row) if row in taken else _OVER
            ended = {"state": "failed", "error": "DCF.Interrupted", "cause": cause}
            TURN.replace(journal.connection, row | ended | {"updated_at": journal.at}, row)
            end_task(journal, agent_id, row["id"], "failed")


def _refuse_older(connection: Connection, agent_id: str, fence: TurnFence) -> None:
    refused = TurnFenced(agent_id=agent_id, holder=fence.holder, number=fence.number)
    newest = connection.execute(
        "SELECT max(fence) FROM turns WHERE agent_id = ? AND holder = ?", (agent_id, fence.holder)
    ).fetchone()[0]
    if newest is not None and newest > fence.number:
        raise refused
    if fence.lent:
        agent = AGENT.find(connection, agent_id)
        # Who finds no agent says so later.
        if agent is not None and fence.lent not in json.loads(agent["tags"]):
            raise refused


def _is_taken_over(row: Row, fence: TurnFence) -> bool:
    """Whether who has ``fence`` need not wait for the turn in ``row``."""
    if row["letter_id"] is not None or row["holder"] is None:
        return False
    return row["holder"] == fence.holder or bool(fence.lent)


def _waits(journal: Journal, letter_id: str) -> bool:
    """Whether the letter is not over: it may have failed, or expired, without its turn."""
    row = LETTER.find(journal.connection, letter_id)
    return row is not None and row["state"] in ("waiting", "taken")


def hold_turn(journal: Journal, turn: TurnRecord, at: int) -> None:
    """Note that the turn was worked on ``at`` (ms). Raises TurnLost."""
    row = running_row(journal.connection, turn)
    if row is not None:
        TURN.replace(journal.connection, row | {"updated_at": at}, row)


def refuse_lost(turn: TurnRecord) -> Callable[[Connection], object]:
    """For ``Ledger.under``: raises TurnLost where the turn is over, somebody else's or taken back.
    A turn whose agent is gone is left to what is done with the agent."""

    def refuse(connection: Connection) -> None:
        row = running_row(connection, turn)
        if row is None and AGENT.find(connection, turn.agent_id) is not None:
            raise TurnLost(agent_id=turn.agent_id, turn_id=turn.id)

    return refuse


def running_row(connection: Connection, turn: TurnRecord) -> dict[str, Any] | None:
    """The row of a turn that is not over and nobody else's; None if its agent was deleted, or
    rolled back. Raises TurnLost."""
    row = TURN.find(connection, turn.id)
    if row is not None and not is_held(row, turn):
        raise TurnLost(agent_id=turn.agent_id, turn_id=turn.id)
    return row


def is_held(row: Row, turn: TurnRecord) -> bool:
    """Whether the turn in ``row`` is under way for whoever has ``turn``."""
    return bool(row["state"] == "running" and row["fence"] == turn.fence)
