"""Noting reads without holding them up, and reading what was noted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from dcf.memory.access.reading import LOST_READS, Noted, Reading, by_node, readings, write_noted
from dcf.memory.actor import SYSTEM, Actor
from dcf.memory.database import Connection
from dcf.memory.errors import MemoryProblem
from dcf.memory.ledger import Ledger

_log = logging.getLogger(__name__)

_PAUSE_S = 0.2
"""Reads of so many seconds are written in one transaction."""
_MOST_WAITING = 10_000
_DAY_MS = 24 * 3600 * 1000


class AccessLog:
    """Who read entries of nodes. A read is noted in memory and written a moment later, by a task of
    its own: it waits for nothing, and fails for nothing that is wrong with the log. A process that
    is killed loses what it noted in the last moment.

    What is older than the days that ``Source.access_days`` says goes when new rows are written.
    Reads that cannot be kept, because too many wait or the file takes none, are counted: their
    number is a row of its own as soon as one can be written.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._days = ledger.database.source.access_days
        self._waiting: list[Noted] = []
        self._lost = 0
        self._task: asyncio.Task[None] | None = None
        self._is_closing = asyncio.Event()

    def note(
        self,
        by: Actor | None,
        operation: str,
        node_id: str | None,
        found: Sequence[tuple[str, str]],
        count: int = 0,
    ) -> None:
        """Note a read in a node (None: in no single one) that gave ``found``, pairs of node and
        entry, or a ``count`` alone. ``by`` is None where nobody said who reads."""
        if not self._days:
            return
        if len(self._waiting) >= _MOST_WAITING:
            self._lost += 1
            return
        at = self._ledger.clock()
        self._waiting.append(Noted(at, by or SYSTEM, operation, node_id, by_node(found), count))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_soon())

    async def list(
        self,
        *,
        node: str | None = None,
        within: tuple[str, str] | None = None,
        by: str | None = None,
        since: int | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> tuple[Reading, ...]:
        """Reads, the newest first: in or from ``node`` (an id, or ``CHECKPOINT/NAME``), of the
        actor named ``by``, not older than ``since`` (ms); ``before`` is the ``seq`` of the last one
        of the page before. ``within``, a project and a checkpoint, leaves those in which all nodes
        are of it, and are still there. Numbers of lost reads are among them, whatever was asked:
        nobody knows whose they were."""
        await self.flush()
        asked: dict[str, Any] = {"node": node, "within": within, "by": by, "since": since}

        def read(connection: Connection) -> list[Reading]:
            return readings(connection, **asked, before=before, limit=limit)

        return tuple(await self._ledger.read(read))

    async def flush(self) -> None:
        """Write what was noted until now."""
        noted, self._waiting = self._waiting, []
        lost, self._lost = self._lost, 0
        if lost:
            _log.warning("%d reads are missing in the access log: too many waited", lost)
            noted.append(Noted(self._ledger.clock(), SYSTEM, LOST_READS, None, {}, lost))
        if not noted:
            return
        keep_ms = self._days * _DAY_MS
        try:
            await self._ledger.database.write(
                lambda connection: write_noted(connection, noted, keep_ms)
            )
        except MemoryProblem as error:
            missing = sum(one.operation != LOST_READS for one in noted)
            _log.warning("%d reads are missing in the access log: %s", missing, error)
            self._lost += missing + lost

    async def close(self) -> None:
        """Write what was noted, and wait for no more."""
        self._is_closing.set()
        if self._task is not None:
            await self._task
        await self.flush()

    async def _write_soon(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_closing.wait(), _PAUSE_S)
            await self.flush()
