"""What a reflection reads and writes, as it asks for it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Protocol

from dcf.knowledge import InsightFact, Outcome, ToldRun


class Source(Protocol):
    """What is known of finished runs. ``dcf.knowledge.Knowledge`` gives it from the graph."""

    def outcomes(self, *, since: int | None = None) -> AsyncIterator[Outcome]:
        """Outcomes that ended at ``since`` (ms) or later, in the order in which they ended."""
        ...

    async def insights(self) -> list[InsightFact]:
        """The insights that hold."""
        ...


class Sink(Protocol):
    """Where insights go, to be written to the graph. ``control_plane.Outbox`` does."""

    async def put(self, kind: str, id_: str, data: object) -> None:
        """Keep a record until it is written."""
        ...


class WithRun:
    """A source of one run more: what ``run`` tells, in place of what ``known`` has of it. Without
    ``known`` that run is all there is."""

    def __init__(self, run: ToldRun, known: Source | None) -> None:
        self._run = run
        self._known = known

    async def outcomes(self, *, since: int | None = None) -> AsyncIterator[Outcome]:
        """See ``Source``."""
        own = deque(one for one in self._run.outcomes if since is None or one.ended_at >= since)
        if self._known is not None:
            async for outcome in self._known.outcomes(since=since):
                if outcome.run == self._run.end.run:
                    continue
                while own and own[0].ended_at <= outcome.ended_at:
                    yield own.popleft()
                yield outcome
        for outcome in own:
            yield outcome

    async def insights(self) -> list[InsightFact]:
        """See ``Source``."""
        return [] if self._known is None else await self._known.insights()
