"""Where the guidelines hang: a memory block of the Planner's, changed without losing anything."""

from __future__ import annotations

from collections.abc import Callable

from dcf.agents import AgentRuntime, LocalAgents
from dcf.guidelines import (
    LABEL,
    Guidelines,
    Rules,
    fitted,
    next_revision,
    read_guidelines,
    text_of,
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
        self, changed: Callable[[Guidelines], Guidelines], now: int, rules: Rules
    ) -> tuple[Guidelines, tuple[str, ...]]:
        """Let the document be what ``changed`` makes of it, under the next revision, and say what
        had to go for want of room. ``changed`` is called again when somebody else was faster; what
        changes nothing, or only what there is no room for, is not written.

        Raises as ``read``, and ReadOnlyBlock where agents live on a server and the block is closed.
        """
        for _ in range(ATTEMPTS):
            block = await self._runtime.block(self.agent_id, LABEL)
            before = read_guidelines(block.value)
            # The next revision may be longer by a digit: it is what has to fit.
            after, dropped = fitted(next_revision(changed(before), now), rules, block.hard_limit)
            if after == next_revision(before, now):
                return before, dropped
            try:
                await self._write(block, text_of(after))
            except RevisionConflict:
                continue
            return after, dropped
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
