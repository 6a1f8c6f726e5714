"""Threads: what was said and done elsewhere, to be cited turn by turn."""

from __future__ import annotations

from dcf.memory.actor import Actor
from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.thread import NewThread, Synced, Thread, Turn
from dcf.memory.threads.errors import UnknownThread, UnknownTurn
from dcf.memory.threads.syncing import problems, sync, thread_of, turn_of


class Threads:
    """Threads of other programs, each kept once for each source."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def sync(self, new: NewThread, *, by: Actor) -> Synced:
        """Keep the thread, or what came to it since. Doing so twice is the same as doing so once.
        Raises InvalidEntry with all that is wrong."""
        refuse("the thread", problems(new))
        return await self._ledger.change(by, lambda journal: sync(journal, new))

    async def get(self, thread: str) -> Thread:
        """The thread with this id, or with this id at its source. Raises UnknownThread."""
        return await self._ledger.read(lambda connection: _found(connection, thread))

    async def turn(self, thread: str, number: int) -> Turn:
        """One turn. Raises UnknownThread, UnknownTurn."""

        def work(connection: Connection) -> Turn:
            found = _found(connection, thread)
            row = connection.execute(
                "SELECT * FROM thread_turns WHERE thread_id = ? AND number = ?",
                (found.id, number),
            ).fetchone()
            if row is None:
                raise UnknownTurn(thread=thread, number=number, turns=found.turns)
            return turn_of(dict(row))

        return await self._ledger.read(work)

    async def list(
        self, *, project: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[Thread, ...]:
        """Threads (None: of all projects), those that began last first."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM threads WHERE ?1 IS NULL OR project = ?1"
                " ORDER BY started_at DESC, id DESC LIMIT ?2 OFFSET ?3",
                (project, max(limit, 0), max(offset, 0)),
            ).fetchall()
        )
        return tuple(thread_of(dict(row)) for row in rows)


def _found(connection: Connection, thread: str) -> Thread:
    row = connection.execute(
        "SELECT * FROM threads WHERE id = ?1 OR source_id = ?1 ORDER BY id = ?1 DESC LIMIT 1",
        (thread,),
    ).fetchone()
    if row is None:
        raise UnknownThread(thread=thread)
    return thread_of(dict(row))
