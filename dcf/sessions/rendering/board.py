"""Writing rendered blocks into the memory of agents."""

from __future__ import annotations

from contextlib import suppress

from dcf.agents import AgentRuntime, LocalAgents
from dcf.memory import (
    Actor,
    Block,
    BlockExists,
    NewBlock,
    RevisionConflict,
    UnknownBlock,
)
from dcf.sessions.rendering.rendered import Rendered, Stamp

KEEPER = Actor("system", "sessions")
ATTEMPTS = 50
"""Each lost race is one that somebody else won; so many in a row mean that something is wrong."""


async def put(runtime: AgentRuntime, agent_id: str, rendered: Rendered) -> bool:
    """Let the agent's block say what was rendered, made if it is missing; whether it was written.
    A block that is as new already, or newer, stays as it is.

    Raises UnknownAgent, OverLimit for a block with a limit of its own that is lower.
    """
    expected = 0
    for _ in range(ATTEMPTS):
        found = await _find(runtime, agent_id, rendered.label)
        if found is not None and not rendered.stamp.is_newer(Stamp.read(found.value)):
            return False
        # Somebody else made, wrote or took away the block meanwhile: it is looked at again.
        with suppress(RevisionConflict, BlockExists, UnknownBlock):
            if found is None:
                await _make(runtime, agent_id, rendered)
            else:
                expected = found.revision
                await _write(runtime, agent_id, rendered, found)
            return True
    raise RevisionConflict(what=f"block {rendered.label!r}", expected=expected, found="another")


async def is_there(runtime: AgentRuntime, agent_id: str, label: str) -> bool:
    """Whether the agent has a block of that label. Raises UnknownAgent."""
    return await _find(runtime, agent_id, label) is not None


async def _find(runtime: AgentRuntime, agent_id: str, label: str) -> Block | None:
    try:
        return await runtime.block(agent_id, label)
    except UnknownBlock:
        return None


async def _make(runtime: AgentRuntime, agent_id: str, rendered: Rendered) -> None:
    local = runtime if isinstance(runtime, LocalAgents) else None
    new = NewBlock(
        label=rendered.label,
        value=rendered.text,
        description=rendered.description,
        hard_limit=rendered.limit,
        # On a server nobody may write to a closed block, its keeper neither.
        read_only=local is not None,
    )
    if local is not None:
        await local.memory.blocks.create(agent_id, new, by=KEEPER)
        return
    block = await runtime.create_block(new, by=KEEPER)
    await runtime.attach_block(agent_id, block.id, by=KEEPER)


async def _write(runtime: AgentRuntime, agent_id: str, rendered: Rendered, found: Block) -> None:
    if isinstance(runtime, LocalAgents):
        # Closed to agents, so that nobody talks them into changing it; this is its keeper.
        await runtime.memory.blocks.write(
            agent_id,
            rendered.label,
            rendered.text,
            by=KEEPER,
            expected=found.revision,
            as_owner=True,
        )
    elif found.read_only:
        await runtime.detach_block(agent_id, rendered.label, by=KEEPER)
        await _make(runtime, agent_id, rendered)
    else:
        await runtime.write_block(
            agent_id, rendered.label, rendered.text, by=KEEPER, expected=found.revision
        )
