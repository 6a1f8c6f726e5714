"""Where the guidelines hang: a memory block of the Planner's, changed without losing anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

from dcf.agents import AgentRuntime, LocalAgents
from dcf.guidelines import (
    ITEMS,
    LABEL,
    Guidelines,
    next_revision,
    read_guidelines,
)
from dcf.memory import Actor, Block, RevisionConflict

KEEPER = Actor("system", "reflector")
ATTEMPTS = 50
"""Each lost race is one that somebody else won; so many in a row mean that something is wrong."""


class GuidelinesBoard:
    """The block ``reflector_guidelines`` of one agent. Every change is made by compare-and-set on
    the block's revision: nobody's change is lost, and the last reader sees all of them."""

    def __init__(self, runtime: AgentRuntime, agent_id: str) -> None:
        self._runtime = runtime
        self.agent_id = agent_id

    async def read(self) -> Guidelines:
        """What it says now. Raises UnknownAgent, UnknownBlock, InvalidGuidelines."""
        block = await self._runtime.block(self.agent_id, LABEL)
        return read_guidelines(block.value)

    async def change(
        self, changed: Callable[[Guidelines], Guidelines], now: int
    ) -> tuple[Guidelines, tuple[str, ...]]:
        """Let the document be what ``changed`` makes of it, under the next revision, and say what
        had to go for want of room. ``changed`` is called again when somebody else was faster; what
        changes nothing is not written.

        Raises as ``read``, and ReadOnlyBlock where agents live on a server and the block is closed.
        """
        for _ in range(ATTEMPTS):
            block = await self._runtime.block(self.agent_id, LABEL)
            before = read_guidelines(block.value)
            after = changed(before)
            if after == before:
                return before, ()
            fitted, dropped = fit(next_revision(after, now), block.hard_limit)
            try:
                await self._write(block, _text(fitted))
            except RevisionConflict:
                continue
            return fitted, dropped
        raise RevisionConflict(what=f"block {LABEL!r}", expected=block.revision, found="another")

    async def _write(self, block: Block, text: str) -> None:
        if isinstance(self._runtime, LocalAgents):
            # Closed to agents, so that nobody talks them into changing it; this is its keeper.
            await self._runtime.memory.blocks.write(
                self.agent_id, LABEL, text, by=KEEPER, expected=block.revision, as_owner=True
            )
            return
        await self._runtime.write_block(
            self.agent_id, LABEL, text, by=KEEPER, expected=block.revision
        )


def fit(guidelines: Guidelines, limit: int | None) -> tuple[Guidelines, tuple[str, ...]]:
    """``guidelines`` that are no longer than ``limit`` bytes (None: as long as they like), and what
    was dropped: the oldest insights first, then the items of which least is sure."""
    dropped: list[str] = []
    while limit is not None and len(_text(guidelines).encode()) > limit:
        if guidelines.recent_insights:
            dropped.append("the oldest of recent_insights")
            kept = guidelines.recent_insights[:-1]
            guidelines = replace(guidelines, recent_insights=kept)
            continue
        items = [item for kind in ITEMS for item in guidelines.items(kind)]
        if not items:
            break
        least = min(items, key=lambda item: (item.confidence or 0.0, item.last_evidence_at or 0))
        dropped.append(f"{least.LIST}: {least.said[0]}")
        left = [item for item in guidelines.items(type(least)) if item is not least]
        guidelines = guidelines.with_items({least.LIST: left})
    return guidelines, tuple(dict.fromkeys(dropped))


def _text(guidelines: Guidelines) -> str:
    return json.dumps(guidelines.to_json(), ensure_ascii=False)
