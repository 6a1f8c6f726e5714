"""The turns of agents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dcf.memory.actor import Actor
from dcf.memory.agents.finding import agent_row
from dcf.memory.database import Connection
from dcf.memory.entities import TURN
from dcf.memory.ledger import Ledger
from dcf.memory.letter import Letter
from dcf.memory.message import Message, NewMessage
from dcf.memory.messages import priced
from dcf.memory.turn_record import TurnFence, TurnRecord, Usage
from dcf.memory.turns.calls import AnsweredCall, OwnTurn, calls_for_run, own_turns_since
from dcf.memory.turns.ending import answer_turn, begin_turn, fail_turn, turn_of
from dcf.memory.turns.holding import hold_turn, refuse_lost


class Turns:
    """Turns by agent: begun with the question, ended with the answer or a failure. What a turn adds
    to the conversation, its end, and the answer to its letter are one change."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def begin(
        self,
        agent_id: str,
        question: NewMessage,
        *,
        by: Actor,
        letter: Letter | None = None,
        lease_ms: int | None = None,
        fence: TurnFence | None = None,
    ) -> TurnRecord:
        """A turn that answers ``question``. One that was begun for ``letter`` before goes on, and
        the question is not added again.

        With ``lease_ms`` an agent has one turn at a time, whichever process began it: who works on
        one says so within that time (``keep``), else it counts as left. A turn that belongs to
        other work has its ``fence``: it ends what an earlier holder of that work began, and is
        refused after a later one. Raises TurnUnderWay, TurnFenced, UnknownAgent, InvalidEntry; for
        a letter that somebody else took meanwhile, TurnLost.
        """
        (asked,) = await asyncio.to_thread(priced, [question])
        return await self._ledger.change(
            by,
            lambda journal: begin_turn(
                journal, agent_id, asked, letter, lease_ms=lease_ms, fence=fence
            ),
        )

    def ledger_of(self, turn: TurnRecord) -> Ledger:
        """What changes the memory only while the turn is under way for whoever has ``turn``; raises
        TurnLost after that."""
        return self._ledger.under(refuse_lost(turn))

    async def keep(self, turn: TurnRecord, *, by: Actor) -> None:
        """Say that the turn is worked on. Raises TurnLost."""
        await self._ledger.change(by, lambda journal: hold_turn(journal, turn, journal.at))

    async def leave(self, turn: TurnRecord, *, by: Actor) -> None:
        """Say that nobody works on the turn, until it is taken up again. Raises TurnLost."""
        await self._ledger.change(by, lambda journal: hold_turn(journal, turn, 0))

    async def answer(
        self,
        turn: TurnRecord,
        answer: NewMessage,
        *,
        by: Actor,
        model: str,
        usage: Usage,
        letter: Letter | None = None,
        shown: Sequence[str] = (),
        part: str = "",
    ) -> tuple[TurnRecord, Message]:
        """The turn ends with ``answer``. Observations that it cites count as used, if the texts
        ``shown`` to the agent in this turn tell them, once for the ``part`` of the work that a
        holder of the turn does. Raises UnknownAgent, InvalidEntry, LetterLost and TurnLost."""
        (said,) = await asyncio.to_thread(priced, [answer])
        return await self._ledger.change(
            by,
            lambda journal: answer_turn(
                journal,
                turn,
                said,
                model=model,
                usage=usage,
                letter=letter,
                shown=shown,
                part=part,
            ),
        )

    async def fail(
        self,
        turn: TurnRecord,
        error: str,
        cause: str,
        *,
        by: Actor,
        model: str,
        usage: Usage,
        letter: Letter | None = None,
    ) -> TurnRecord:
        """The turn ends without an answer. Raises LetterLost."""
        return await self._ledger.change(
            by,
            lambda journal: fail_turn(
                journal, turn, error=error, cause=cause, model=model, usage=usage, letter=letter
            ),
        )

    async def get(self, turn_id: str) -> TurnRecord | None:
        """The turn with this id, if there is one."""

        def work(connection: Connection) -> TurnRecord | None:
            row = TURN.find(connection, turn_id)
            return None if row is None else turn_of(row)

        return await self._ledger.read(work)

    async def own_since(self, at: int) -> tuple[OwnTurn, ...]:
        """The turns that ended ``at`` (ms) or later and are work for no run, in which something was
        called, the oldest first."""
        return await self._ledger.read(lambda connection: own_turns_since(connection, at))

    async def calls_for_run(self, run_id: str, end: str) -> tuple[AnsweredCall, ...]:
        """What agents called that worked for a run whose incarnation has this ``end``, as far as
        they are there still."""
        return await self._ledger.read(lambda connection: calls_for_run(connection, run_id, end))

    async def list(self, agent_id: str, *, limit: int = 100) -> tuple[TurnRecord, ...]:
        """The newest turns of the agent, the oldest of them first. Raises UnknownAgent."""

        def work(connection: Connection) -> tuple[TurnRecord, ...]:
            agent_row(connection, agent_id)
            rows = connection.execute(
                "SELECT * FROM turns WHERE agent_id = ? ORDER BY first DESC LIMIT ?",
                (agent_id, max(limit, 0)),
            ).fetchall()
            return tuple(turn_of(dict(row)) for row in reversed(rows))

        return await self._ledger.read(work)
