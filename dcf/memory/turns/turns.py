"""The turns of agents."""

from __future__ import annotations

from dcf.memory.actor import Actor
from dcf.memory.agents.finding import agent_row
from dcf.memory.database import Connection
from dcf.memory.entities import TURN
from dcf.memory.ledger import Ledger
from dcf.memory.letter import Letter
from dcf.memory.message import Message, NewMessage
from dcf.memory.turn_record import TurnRecord, Usage
from dcf.memory.turns.ending import answer_turn, begin_turn, fail_turn, turn_of


class Turns:
    """Turns by agent: begun with the question, ended with the answer or a failure. What a turn adds
    to the conversation, its end, and the answer to its letter are one change."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def begin(
        self, agent_id: str, question: NewMessage, *, by: Actor, letter: Letter | None = None
    ) -> TurnRecord:
        """A turn that answers ``question``. One that was begun for ``letter`` before goes on, and
        the question is not added again. Raises UnknownAgent, InvalidEntry."""
        return await self._ledger.change(
            by, lambda journal: begin_turn(journal, agent_id, question, letter)
        )

    async def answer(
        self,
        turn: TurnRecord,
        answer: NewMessage,
        *,
        by: Actor,
        model: str,
        usage: Usage,
        letter: Letter | None = None,
    ) -> tuple[TurnRecord, Message]:
        """The turn ends with ``answer``. Raises UnknownAgent, InvalidEntry, LetterLost."""
        return await self._ledger.change(
            by,
            lambda journal: answer_turn(
                journal, turn, answer, model=model, usage=usage, letter=letter
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

    async def list(self, agent_id: str, *, limit: int = 100) -> tuple[TurnRecord, ...]:
        """The newest turns of the agent, the oldest of them first. Raises UnknownAgent."""

        def work(connection: Connection) -> tuple[TurnRecord, ...]:
            agent_row(connection, agent_id)
            rows = connection.execute(
                "SELECT * FROM turns WHERE agent_id = ? ORDER BY first DESC LIMIT ?",
                (agent_id, limit),
            ).fetchall()
            return tuple(turn_of(dict(row)) for row in reversed(rows))

        return await self._ledger.read(work)
