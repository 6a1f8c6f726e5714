"""The project that the current folder belongs to, and its agent."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from dcf.memory import Agent, Memory, Project, UnknownAgent, UnknownProject


async def current_project(memory: Memory) -> Project | None:
    """The project in the current folder, or in the nearest one above it."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        with suppress(UnknownProject):
            return await memory.projects.get(str(folder))
    return None


async def last_agent(memory: Memory) -> Agent | None:
    """The agent that was used last in this project; None if there was none, or it is gone."""
    project = await current_project(memory)
    if project is None or project.last_agent_id is None:
        return None
    with suppress(UnknownAgent):
        return await memory.agents.get(project.last_agent_id)
    return None
