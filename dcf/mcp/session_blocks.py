"""A session in the memory of its conductor, where that is an agent."""

from __future__ import annotations

import logging

from control_plane import ControlPlaneError
from dcf.mcp.agent_life import agent_of, by_tool, id_of
from dcf.mcp.platform import Platform
from dcf.memory import Agent, Block, MemoryProblem, UnknownBlock
from dcf.sessions.rendering import show_session

log = logging.getLogger(__name__)


def label_of(session_id: str) -> str:
    """The label of the block that shows the session."""
    return f"session_context:{session_id}"


async def show(platform: Platform, session_id: str, conductor_id: str) -> tuple[str | None, str]:
    """Show the session to its conductor: the id of the block, or None and why there is none. The
    session itself does not need the block."""
    try:
        agent_id = await agent_id_of(platform, conductor_id)
        if agent_id is None:
            return None, f"{conductor_id} is no agent here: read_session shows it the session"
        runtime = (await platform.home()).runtime
        await show_session(platform.sessions, session_id, runtime, agent_id)
        return (await runtime.block(agent_id, label_of(session_id))).id, ""
    except (ControlPlaneError, MemoryProblem) as problem:
        log.warning("session %s is not shown to %s: %s", session_id, conductor_id, problem)
        return None, f"the conductor's memory does not show it: {problem}"


async def take_block(platform: Platform, session_id: str, conductor_id: str) -> bool:
    """Take the block from the conductor again; whether it had one. Raises MemoryProblem."""
    agent_id = await agent_id_of(platform, conductor_id)
    if agent_id is None:
        return False
    runtime = (await platform.home()).runtime
    try:
        await runtime.detach_block(agent_id, label_of(session_id), by=by_tool("finalize_session"))
    except UnknownBlock:
        return False
    return True


async def labels_of(
    platform: Platform, conductor_id: str, named: list[str]
) -> tuple[list[str], list[str]]:
    """The labels of the conductor's blocks that are named, by label or id; and what is doubtful
    about them."""
    agent_id = await agent_id_of(platform, conductor_id) if named else None
    blocks: tuple[Block, ...] = ()
    if agent_id is not None:
        blocks = await (await platform.home()).runtime.blocks(agent_id)
    by_id = {block.id: block.label for block in blocks}
    labels = [by_id.get(one, one) for one in named]
    known = set(by_id.values())
    return labels, [f"{conductor_id} has no block {one!r}" for one in labels if one not in known]


async def agent_id_of(platform: Platform, conductor_id: str) -> str | None:
    """The id of the agent that the conductor is."""
    agent = await conducting_agent(platform, conductor_id)
    return None if agent is None else agent.id


async def conducting_agent(platform: Platform, conductor_id: str) -> Agent | None:
    """The agent that the conductor is, by id or name; None if it is none."""
    agent = await agent_of(platform, conductor_id)
    if agent is None and (found := await id_of(platform, conductor_id)) is not None:
        agent = await agent_of(platform, found)
    return agent
