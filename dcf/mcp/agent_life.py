"""The life of an agent: in the runtime, where it remembers, and in the control plane, where its
skills, its budget and its calls are on record. Both have it under one id.

It is made in the runtime first, then gets its record: without one it can do everything but load
skills, and the record is made when it is first needed. It loses its record first: from then on
nothing can be called in its name. Whoever stops in between is finished by whoever says it again,
since the name is found as long as either has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from control_plane import (
    AgentDocument,
    BadDocument,
    BadName,
    NameTaken,
    UnknownAgent,
    check_agent_id,
)
from control_plane import AgentExists as RecordExists
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.memory import Actor, Agent, AgentExists, NewAgent, NewBlock
from dcf.memory import UnknownAgent as NotThere
from dcf.worker import make_record
from dcf.worker import remove_agent as remove_from


def by_tool(name: str) -> Actor:
    """Who changes something with the tool ``name``."""
    return Actor("user", "mcp", name)


async def make_agent(
    platform: Platform,
    new: NewAgent,
    blocks: Sequence[NewBlock] | None,
    *,
    agent_id: str | None,
    by: Actor,
) -> tuple[Agent, AgentDocument]:
    """A new agent. Raises AgentExists and NameTaken of the control plane, BadName, InvalidEntry,
    OverLimit, Refused."""
    home, records = await platform.home(), platform.agents
    taken = await records.find(new.name)
    if taken is not None:
        raise NameTaken(name=new.name, kind="agent", id=taken)
    if agent_id is not None and await records.get(check_agent_id(agent_id), ()) is not None:
        raise RecordExists(agent=agent_id)
    try:
        if home.is_local:
            chosen = agent_id or f"agent-{platform.new_id()}"
            made = await home.memory.agents.create(new, by=by, blocks=blocks, agent_id=chosen)
        elif agent_id is None:
            made = await home.runtime.create(new, blocks, by=by)
        else:
            raise Refused("bad_arguments", "agent_id: this runtime gives its agents ids itself")
    except AgentExists:
        other = await home.runtime.find(new.name)
        raise NameTaken(name=new.name, kind="agent", id=other.id if other else "") from None
    try:
        document = await records.create(made.id, new.name, tags=new.tags)
    except RecordExists:
        # Made for it by a turn that began already.
        document = await record_of(platform, made.id)
    except (NameTaken, BadName, BadDocument):
        await home.runtime.delete(made.id, by=by)
        raise
    return made, document


async def record_of(platform: Platform, agent_id: str) -> AgentDocument:
    """The record of an agent, made if the agent has none yet. Raises UnknownAgent."""
    document = await platform.agents.get(agent_id)
    if document is None:
        agent = await agent_of(platform, agent_id)
        if agent is None:
            raise UnknownAgent(agent=agent_id)
        await make_record(platform.agents, agent)
        document = await platform.agents.get(agent_id)
    if document is None:
        raise UnknownAgent(agent=agent_id)
    return document


async def agent_of(platform: Platform, agent_id: str) -> Agent | None:
    """The agent in the runtime; None for one that only has a record, or none."""
    home = await platform.home()
    try:
        return await home.runtime.get(agent_id)
    except NotThere:
        return None


async def id_of(platform: Platform, name: str) -> str | None:
    """The id of the agent called ``name``."""
    home = await platform.home()
    found = await home.runtime.find(name)
    return found.id if found is not None else await platform.agents.find(name)


async def remove_agent(platform: Platform, agent_id: str, *, by: Actor) -> None:
    """Delete an agent wherever it is. Raises UnknownAgent if it is nowhere."""
    home = await platform.home()
    try:
        await remove_from(home.runtime, platform.agents, agent_id, by=by)
    except NotThere:
        raise UnknownAgent(agent=agent_id) from None
