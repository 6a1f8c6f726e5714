"""Agents as a command line names them."""

from __future__ import annotations

from contextlib import suppress

from dcf.cli.memory.project import last_agent
from dcf.cli.trouble import NotSo
from dcf.memory import Agent, Event, Memory, UnknownAgent

DEFAULT = "@default"
"""The agent of the project that the current folder belongs to."""


async def agent_named(memory: Memory, name: str) -> Agent:
    """The agent with this name or id, or of this project for ``@default``.

    Raises UnknownAgent, NotSo where the project has none.
    """
    if name == DEFAULT:
        found = await last_agent(memory)
        if found is None:
            hint = "name an agent (`dcf memory agents` lists them), or `dcf memory init` one here"
            raise NotSo("memory_no_default", "this project has no agent yet", hint)
        return found
    try:
        return await memory.agents.find(name)
    except UnknownAgent:
        with suppress(UnknownAgent):
            return await memory.agents.get(name)
        raise


def name_warnings(name: str | None) -> list[str]:
    """A new name had better have no slash: ``ada/human`` is the block of an agent."""
    if name is None or "/" not in name:
        return []
    return [f"warning: {name} reads like a block of an agent, as {name.partition('/')[0]}/human"]


async def agents_named(memory: Memory, names: list[str]) -> list[Agent]:
    """The agents, in this order, each once. Raises as ``agent_named``."""
    found = {agent.id: agent for agent in [await agent_named(memory, name) for name in names]}
    return list(found.values())


async def id_of(memory: Memory, name: str) -> str:
    """The id of an agent that there is, or was: what went is known by its name too.

    Raises as ``agent_named``.
    """
    try:
        return (await agent_named(memory, name)).id
    except UnknownAgent:
        for event in await memory.events.list(operation="deleted", limit=_ALL):
            if _was(event, name):
                return event.entity_id
        if await memory.events.list(agent_id=name, limit=1):
            return name
        raise


async def names_of(memory: Memory) -> dict[str, str]:
    """The names of all agents by id."""
    return {agent.id: agent.name for agent in await memory.agents.list(limit=_ALL)}


_ALL = 1 << 62


def _was(event: Event, name: str) -> bool:
    return event.entity == "agent" and event.change["deleted"]["name"] == name
