"""What the graph's tools work with: the graph, Graphiti's search over it, and the outbox."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from control_plane import Outbox, OutboxLag
from dcf.knowledge import TEXT, GraphAway, GraphConnection, GraphRefused, Privacy, TextEpisode
from dcf.knowledge.graphiti import GraphitiSearch


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _new_id() -> str:
    return str(uuid.uuid4())


@dataclass
class GraphDesk:
    """``graph`` is read and cleared directly; what is added goes through ``outbox``. ``extracts``:
    a model finds facts in texts. ``clock`` gives ms since the epoch."""

    graph: GraphConnection
    url: str = field(repr=False)
    outbox: Outbox
    privacy: Privacy
    extracts: bool = False
    clock: Callable[[], int] = _now_ms
    new_id: Callable[[], str] = _new_id
    _search: GraphitiSearch | None = field(default=None, repr=False)
    _opened: AsyncExitStack = field(default_factory=AsyncExitStack, repr=False)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @asynccontextmanager
    async def searching(self) -> AsyncIterator[GraphitiSearch]:
        """Graphiti's search, opened by the first who wants it, and anew after the graph refused a
        query: its indexes may be gone with a graph that was lost. Raises GraphitiMissing,
        GraphAway, GraphRefused."""
        async with self._opening:
            if self._search is None:
                opened = GraphitiSearch.open(self.url, graph=self.graph.graph)
                self._search = await self._opened.enter_async_context(opened)
            search = self._search
        try:
            yield search
        except GraphAway:
            self.graph.missed()
            raise
        except GraphRefused:
            await self.close()
            raise

    async def add(self, episode: TextEpisode) -> None:
        """Put a text into the outbox, without what must not be kept. Raises OutboxFull and
        ControlPlaneError."""
        redacted = episode.redacted(self.privacy)
        await self.outbox.put(TEXT, redacted.uuid, redacted.to_json())

    async def lag(self) -> OutboxLag:
        """What waits. Raises ControlPlaneError."""
        return await self.outbox.lag()

    async def close(self) -> None:
        """Close the search; the graph and the outbox are their owner's."""
        async with self._opening:
            self._search = None
            await self._opened.aclose()
            self._opened = AsyncExitStack()
