"""Threads: what was said and done elsewhere, to be cited turn by turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dcf.memory.actor import Actor
from dcf.memory.checking import refuse
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.search.found import Found
from dcf.memory.thread import NewThread, Synced, Thread, Turn
from dcf.memory.threads.errors import UnknownThread, UnknownTurn
from dcf.memory.threads.piece import Piece, pieces_of, thread_problems
from dcf.memory.threads.syncing import Syncing, thread_of, turn_of
from dcf.memory.threads.thread_hit import ThreadHit, thread_hits


class Threads:
    """Threads of other programs, each kept once for each source."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def sync(self, new: NewThread, *, by: Actor) -> Synced:
        """Bring the thread up to date: turns that are new are kept, those that its source edited,
        took back or left stay with their numbers and are said to be so. Doing so twice is the same
        as doing so once. Raises InvalidEntry with all that is wrong."""
        refuse("the thread", thread_problems(new))
        (synced,) = await self.keep(Syncing(new.source_type), tuple(pieces_of(new)), by=by)
        return synced

    async def keep(
        self, syncing: Syncing, pieces: Sequence[Piece], *, by: Actor
    ) -> tuple[Synced, ...]:
        """Keep the next pieces of a source; what became of the threads that ended."""
        noted = await asyncio.to_thread(syncing.note, pieces)
        synced = await self._ledger.change(by, lambda journal: syncing.work(journal, noted))
        syncing.forget(noted)
        return synced

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

    async def projects_in(self, folder: str) -> tuple[str, ...]:
        """The projects that have threads and are ``folder``, or folders below it: a program that
        is begun in a folder of a project names that one."""
        below = f"{folder.rstrip('/')}/"
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT DISTINCT project FROM threads WHERE project = ? OR project >= ?"
                " AND project < ? ORDER BY project",
                # "0" is the sign behind "/".
                (folder, below, f"{below[:-1]}0"),
            ).fetchall()
        )
        return tuple(row["project"] for row in rows)

    async def hits(self, found: Sequence[Found], *, tools: bool = True) -> tuple[ThreadHit, ...]:
        """What a search found of turns, with what was said before and after each, as
        ``thread_hits`` says."""
        return await self._ledger.read(
            lambda connection: thread_hits(connection, found, tools=tools)
        )

    async def turns(
        self, thread: str, *, all: bool = False, limit: int = 50, offset: int = 0
    ) -> tuple[Turn, ...]:
        """The turns that stand at the source now, in their order there; with ``all`` every turn
        that is kept, by number. Raises UnknownThread."""

        def work(connection: Connection) -> tuple[Turn, ...]:
            which, order = ("1", "number") if all else ("standing = 'current'", "place")
            rows = connection.execute(
                f"SELECT * FROM thread_turns WHERE thread_id = ? AND {which}"
                f" ORDER BY {order} LIMIT ? OFFSET ?",
                (_found(connection, thread).id, max(limit, 0), max(offset, 0)),
            ).fetchall()
            return tuple(turn_of(dict(row)) for row in rows)

        return await self._ledger.read(work)

    async def list(
        self,
        *,
        project: str | None = None,
        source_type: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[Thread, ...]:
        """Threads (None: of all projects, from all kinds of sources), those that began last
        first."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM threads WHERE (?1 IS NULL OR project = ?1)"
                " AND (?2 IS NULL OR source_type = ?2)"
                " ORDER BY started_at DESC, id DESC LIMIT ?3 OFFSET ?4",
                (project, source_type, max(limit, 0), max(offset, 0)),
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
