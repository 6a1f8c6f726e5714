"""Who works on a turn: one at a time with each agent, however many processes there are.

A turn that is worked on has an ``updated_at`` that is not long ago.
"""

from __future__ import annotations

from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import LETTER, TURN
from dcf.memory.turn_record import TurnRecord
from dcf.memory.turns.errors import TurnLost, TurnUnderWay

_LOOKED_AT = 20
"""Turns follow each other: one that is under way is among the last ones."""
_OVER = "another turn of the agent began while nobody was known to work on this one"


def refuse_second(
    journal: Journal, agent_id: str, own: Row | None, *, lease_ms: int, alone: bool
) -> None:
    """Raises TurnUnderWay while somebody works on a turn of the agent that is not ``own``. Those
    that nobody works on are over from now on, but for those of letters that wait still: they are
    taken up again. Who is ``alone`` with the agent waits for letters' turns only."""
    rows = journal.connection.execute(
        "SELECT * FROM turns WHERE agent_id = ? ORDER BY first DESC LIMIT ?", (agent_id, _LOOKED_AT)
    ).fetchall()
    running = [dict(row) for row in rows if row["state"] == "running"]
    others = [row for row in running if own is None or row["id"] != own["id"]]
    kept = [row for row in others if row["updated_at"] + lease_ms > journal.at]
    if any(row["letter_id"] is not None or not alone for row in kept):
        raise TurnUnderWay(agent_id=agent_id)
    for row in others:
        if row["letter_id"] is None or not _waits(journal, row["letter_id"]):
            ended = {"state": "failed", "error": "DCF.Interrupted", "cause": _OVER}
            TURN.replace(journal.connection, row | ended | {"updated_at": journal.at})


def _waits(journal: Journal, letter_id: str) -> bool:
    """Whether the letter is not over: it may have failed, or expired, without its turn."""
    row = LETTER.find(journal.connection, letter_id)
    return row is not None and row["state"] in ("waiting", "taken")


def hold_turn(journal: Journal, turn: TurnRecord, at: int) -> None:
    """Note that the turn was worked on ``at`` (ms). Raises TurnLost."""
    row = running_row(journal, turn)
    if row is not None:
        TURN.replace(journal.connection, row | {"updated_at": at})


def running_row(journal: Journal, turn: TurnRecord) -> dict[str, Any] | None:
    """The row of a turn that is not over; None if its agent was deleted, or rolled back. Raises
    TurnLost."""
    row = TURN.find(journal.connection, turn.id)
    if row is not None and row["state"] != "running":
        raise TurnLost(agent_id=turn.agent_id, turn_id=turn.id)
    return row
