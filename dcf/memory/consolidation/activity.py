"""Noting which agents are at work, as their blocks are written."""

from __future__ import annotations

from dcf.memory.audit.event import Event
from dcf.memory.ids import Clock
from dcf.memory.observer import Observer


class Activity(Observer):
    """Told of this process's changes (``Memory.open(observers=[activity])``), so that a scheduler
    need not look at agents that are at work. What other processes do it reads from the memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, int] = {}

    def seen(self, agent_id: str) -> int | None:
        """When the agent was last active, in ms since the epoch; None if nothing was noted."""
        return self._seen.get(agent_id)

    async def agent_created(self, agent_id: str, event: Event) -> None:
        self._note(event)

    async def agent_updated(self, agent_id: str, event: Event) -> None:
        self._note(event)

    async def agent_deleted(self, agent_id: str, event: Event) -> None:
        self._seen.pop(agent_id, None)

    async def block_written(self, block_id: str, event: Event) -> None:
        self._note(event)

    def _note(self, event: Event) -> None:
        if event.agent_id is not None and event.consolidation_id is None:
            self._seen[event.agent_id] = self._clock()
