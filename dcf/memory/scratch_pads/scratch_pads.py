"""The scratch pads of tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dcf.memory.actor import Actor
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.writing import appended
from dcf.memory.database import Connection
from dcf.memory.entities import SCRATCH_PAD
from dcf.memory.ledger import Ledger
from dcf.memory.scratch_pad import PAD_BYTES, PAD_TTL_MS, PadOutcome, ScratchPad
from dcf.memory.scratch_pads.errors import NoScratchPad
from dcf.memory.scratch_pads.rows import (
    begin_pad,
    end_expired,
    end_pad,
    open_row,
    pad_of,
    write_pad,
)


class ScratchPads:
    """A pad for each task that an agent works on, and for as long.

    Its text stands in the context that is assembled for that task, and nowhere else: not in
    search, not in the history, not in an agent file. When the task ends, the text is removed; that
    there was a pad, how large it was and how its task ended, is kept for a while. One whose process
    died is taken up by the next try of the task, or expires.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def begin(
        self,
        agent_id: str,
        task: str,
        *,
        by: Actor,
        most_bytes: int = PAD_BYTES,
        ttl_ms: int = PAD_TTL_MS,
    ) -> ScratchPad:
        """The task's pad: a new one, or that of an earlier try that did not end. It expires
        ``ttl_ms`` from now. Raises UnknownAgent, InvalidEntry."""
        return await self._ledger.change(
            by,
            lambda journal: begin_pad(
                journal, agent_id, task, most_bytes=most_bytes, ttl_ms=ttl_ms
            ),
        )

    async def get(self, agent_id: str, task: str) -> ScratchPad | None:
        """The task's open pad, if there is one."""
        now = self._ledger.clock()

        def work(connection: Connection) -> ScratchPad | None:
            row = open_row(connection, agent_id, task, now)
            return None if row is None else pad_of(row)

        return await self._ledger.read(work)

    async def write(self, agent_id: str, task: str, value: str, *, by: Actor) -> ScratchPad:
        """Give the pad another text. Raises NoScratchPad, InvalidEntry, PadFull."""
        return await self._ledger.change(
            by, lambda journal: write_pad(journal, agent_id, task, value)
        )

    async def append(self, agent_id: str, task: str, text: str, *, by: Actor) -> ScratchPad:
        """Add ``text`` on a new line. Raises as ``write``."""

        def work(journal: Journal) -> ScratchPad:
            row = open_row(journal.connection, agent_id, task, journal.at)
            before = "" if row is None else row["value"]
            return write_pad(journal, agent_id, task, appended(before, text))

        return await self._ledger.change(by, work)

    async def end(self, agent_id: str, task: str, outcome: PadOutcome, *, by: Actor) -> ScratchPad:
        """The task is over, and the text gone. Raises NoScratchPad."""

        def work(journal: Journal) -> ScratchPad:
            row = open_row(journal.connection, agent_id, task, journal.at)
            if row is None:
                raise NoScratchPad(agent_id=agent_id, task=task)
            return end_pad(journal, row, outcome)

        return await self._ledger.change(by, work)

    @asynccontextmanager
    async def during(
        self,
        agent_id: str,
        task: str,
        *,
        by: Actor,
        most_bytes: int = PAD_BYTES,
        ttl_ms: int = PAD_TTL_MS,
    ) -> AsyncIterator[ScratchPad]:
        """A pad while the block runs, which is the task: ``done``, or ``failed`` if it raises.

        Raises UnknownAgent, InvalidEntry.
        """
        pad = await self.begin(agent_id, task, by=by, most_bytes=most_bytes, ttl_ms=ttl_ms)
        outcome: PadOutcome = "failed"
        try:
            yield pad
            outcome = "done"
        finally:
            await self._ledger.change(by, lambda journal: _ended(journal, pad.id, outcome))

    async def list(self, agent_id: str, *, limit: int = 100) -> tuple[ScratchPad, ...]:
        """The newest pads of the agent, open or ended, newest first."""

        def work(connection: Connection) -> tuple[ScratchPad, ...]:
            rows = connection.execute(
                "SELECT * FROM scratch_pads WHERE agent_id = ? ORDER BY created_at DESC, id DESC"
                " LIMIT ?",
                (agent_id, max(limit, 0)),
            )
            return tuple(pad_of(dict(row)) for row in rows)

        return await self._ledger.read(work)

    async def end_expired(self, *, by: Actor) -> int:
        """End pads whose time is over; how many."""
        return await self._ledger.change(by, end_expired)


def _ended(journal: Journal, pad_id: str, outcome: PadOutcome) -> None:
    """End the pad, unless it has ended or its agent is gone."""
    row = SCRATCH_PAD.find(journal.connection, pad_id)
    if row is not None and row["outcome"] is None:
        end_pad(journal, row, outcome)
