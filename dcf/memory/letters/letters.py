"""The inboxes of agents."""

from __future__ import annotations

from typing import Any

from dcf.memory.actor import Actor
from dcf.memory.agents.finding import agent_row
from dcf.memory.database import Connection
from dcf.memory.entities import LETTER
from dcf.memory.ledger import Ledger
from dcf.memory.letter import Letter, NewLetter
from dcf.memory.letters.delivery import end_letter, keep_letter, take_letter
from dcf.memory.letters.errors import UnknownLetter
from dcf.memory.letters.rows import leave_letter, letter_of


class Letters:
    """Messages that wait for agents: left once, delivered at least once, answered once.

    Whoever takes a letter has it for a while and says so again while working on it; one whose
    taker went away is given to the next. Only the last taker's answer counts: the others get
    LetterLost.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def leave(self, new: NewLetter, *, by: Actor) -> Letter:
        """Put a letter into an inbox. Raises InvalidEntry, UnknownAgent, CircularMessage."""
        return await self._ledger.change(by, lambda journal: leave_letter(journal, new))

    async def get(self, letter_id: str) -> Letter:
        """The letter with this id. Raises UnknownLetter."""

        def work(connection: Connection) -> Letter:
            row = LETTER.find(connection, letter_id)
            if row is None:
                raise UnknownLetter(letter_id=letter_id)
            return letter_of(row)

        return await self._ledger.read(work)

    async def list(self, agent_id: str, *, limit: int = 100) -> tuple[Letter, ...]:
        """The newest letters to the agent, the oldest of them first. Raises UnknownAgent."""

        def work(connection: Connection) -> tuple[Letter, ...]:
            agent_row(connection, agent_id)
            rows = connection.execute(
                "SELECT * FROM letters WHERE agent_id = ? ORDER BY created_at DESC, rowid DESC"
                " LIMIT ?",
                (agent_id, max(limit, 0)),
            ).fetchall()
            return tuple(letter_of(dict(row)) for row in reversed(rows))

        return await self._ledger.read(work)

    async def take(self, *, by: Actor, lease_ms: int, agent_id: str | None = None) -> Letter | None:
        """The oldest letter that can be delivered now (to this agent), for ``lease_ms``."""
        return await self._ledger.change(
            by, lambda journal: take_letter(journal, lease_ms=lease_ms, agent_id=agent_id)
        )

    async def keep(self, letter: Letter, *, by: Actor, lease_ms: int) -> None:
        """Have a letter that was taken longer. Raises LetterLost, UnknownLetter."""
        await self._ledger.change(
            by, lambda journal: keep_letter(journal, letter, lease_ms=lease_ms)
        )

    async def answer(self, letter: Letter, reply: dict[str, Any], *, by: Actor) -> None:
        """The letter is answered. Raises LetterLost, UnknownLetter."""
        await self._ledger.change(
            by, lambda journal: end_letter(journal, letter, "answered", reply=reply)
        )

    async def fail(self, letter: Letter, error: str, cause: str, *, by: Actor) -> None:
        """There will be no answer. Raises LetterLost, UnknownLetter."""
        await self._ledger.change(
            by, lambda journal: end_letter(journal, letter, "failed", error=error, cause=cause)
        )

    async def give_back(self, letter: Letter, *, by: Actor) -> None:
        """Let somebody else take the letter. Raises LetterLost, UnknownLetter."""
        await self._ledger.change(by, lambda journal: end_letter(journal, letter, "waiting"))
