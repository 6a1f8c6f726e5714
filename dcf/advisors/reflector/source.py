"""What a reflection reads and writes, as it asks for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from dcf.knowledge import InsightFact, Outcome


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
