"""Who is told of what changed in the memory, after it is committed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from dcf.memory.audit.event import Event

_log = logging.getLogger(__name__)


class Observer:
    """Override what you want to hear of. Called after the commit, in the order of the events;
    whoever made the change waits for it.

    An observer cannot stop a change. If it fails, the change stays, its caller is not troubled, the
    other observers are told all the same, and the failure is logged. A process that dies between
    the commit and the call tells nobody: what must never be missed is read from the events.
    """

    async def agent_created(self, agent_id: str, event: Event) -> None:
        """An agent exists, with the blocks it was created with."""

    async def agent_updated(self, agent_id: str, event: Event) -> None:
        """A field of an agent changed."""

    async def agent_deleted(self, agent_id: str, event: Event) -> None:
        """An agent and all that was its own are gone."""

    async def block_written(self, block_id: str, event: Event) -> None:
        """A block was created, or anything in it changed, or it is gone (``event`` says which)."""


async def tell(observers: Sequence[Observer], events: Sequence[Event]) -> None:
    """Tell every observer of every event."""
    for event in events:
        for observer in observers:
            try:
                await _tell(observer, event)
            except Exception:  # noqa: BLE001  # Whatever it was: the change is committed.
                _log.exception("an observer of the memory failed at event %d", event.seq)


async def _tell(observer: Observer, event: Event) -> None:
    if event.entity == "block":
        await observer.block_written(event.entity_id, event)
    elif event.entity == "agent":
        if "created" in event.change:
            await observer.agent_created(event.entity_id, event)
        elif "deleted" in event.change:
            await observer.agent_deleted(event.entity_id, event)
        else:
            await observer.agent_updated(event.entity_id, event)
