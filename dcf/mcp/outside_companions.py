"""Companions from outside as agents: each has a record that skills are loaded into, while it is in
a session."""

from __future__ import annotations

from collections.abc import Iterable

from control_plane import UnknownAgent
from dcf.agents.loading import loaded_skills
from dcf.mcp.external_work import register_agent
from dcf.mcp.platform import Platform
from dcf.sessions import Companion, agent_of
from dcf.sessions.companions import forget_outside, outside_tags


async def register(platform: Platform, session_id: str, companion_id: str) -> str | None:
    """Let the companion have a record. Why it has none, or None."""
    agent_id = agent_of(session_id, companion_id)
    return await register_agent(platform, agent_id, tags=outside_tags(session_id))


async def still_loaded(platform: Platform, agent_id: str) -> list[str]:
    """The skills that the companion has loaded as this agent."""
    try:
        return sorted(await loaded_skills(platform.agents, agent_id))
    except UnknownAgent:
        return []


async def forget(platform: Platform, session_id: str, gone: Iterable[Companion]) -> list[str]:
    """Take away the records of those from outside who are gone, with the skills they had loaded;
    which. A companion process cleans up after those that it served."""
    unloaded: list[str] = []
    for companion in gone:
        if not companion.external:
            continue
        agent_id = agent_of(session_id, companion.companion_id)
        unloaded += await still_loaded(platform, agent_id)
        await forget_outside(platform.agents, agent_id)
    return unloaded
