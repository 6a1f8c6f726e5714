"""Agents: an id with a record each. Their turns come with models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from control_plane import AgentDocument, UnknownAgent
from dcf.agents.loading import delete_agent as delete
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.workflow import iso

AgentId = Annotated[str, "Id of the agent."]
AgentName = Annotated[str, "Name of the agent, exactly."]

_BY = "mcp"


class AgentFound(Envelope, total=False):
    """An agent by its name."""

    agent_id: Annotated[str | None, Field(description="Its id.")]


class AgentDeleted(Envelope, total=False):
    """An agent that is gone."""

    deleted_agent_id: Annotated[str | None, Field(description="Its id.")]


class LimitsRemoved(Envelope, total=False):
    """Limits of tool results that were lifted."""

    updated_count: Annotated[int, Field(description="How many tools changed.")]


class Agent(Envelope, total=False):
    """The record of an agent."""

    agent_id: Annotated[str, Field(description="Its id.")]
    agent_name: Annotated[str, Field(description="Its name.")]
    tags: Annotated[list[str], Field(description="Its tags.")]
    revision: Annotated[int, Field(description="Grows with every change.")]
    created_at: Annotated[str, Field(description="ISO 8601.")]
    updated_at: Annotated[str, Field(description="ISO 8601.")]
    loaded_skills: Annotated[list[str], Field(description="Manifest ids.")]
    record: Annotated[dict[str, Any], Field(description="What else is kept, by member.")]


class Agents(Envelope, total=False):
    """Some agents."""

    agents: Annotated[
        list[dict[str, Any]], Field(description="{agent_id, agent_name, tags, created_at}.")
    ]
    next_after: Annotated[int | None, Field(description="Pass it as after for more.")]


@tool("planner", "conductor", "strategist")
async def resolve_agent_name_to_id(platform: Platform, agent_name: AgentName) -> AgentFound:
    """Find an agent by its name."""
    return {"agent_id": await _id_of(platform, agent_name, "agent_id")}


@tool("conductor", strict=True)
async def delete_agent(platform: Platform, agent_name: AgentName) -> AgentDeleted:
    """Delete an agent; its history stays for a week, its budget and use with its id."""
    agent_id = await _id_of(platform, agent_name, "deleted_agent_id")
    try:
        await delete(platform.agents, agent_id, by=_BY)
    except UnknownAgent as error:
        raise _unknown(agent_name, "deleted_agent_id") from error
    return {"status": "deleted", "deleted_agent_id": agent_id}


@tool()
async def remove_tool_return_limits(platform: Platform, agent_id: AgentId) -> LimitsRemoved:
    """Lift the limits of an agent's tool results; here there are none to lift."""
    await _agent(platform, agent_id)
    warning = "results are not cut here: what is large comes by reference"
    return {"status": "unlimited", "updated_count": 0, "warnings": [warning]}


@tool("conductor")
async def create_agent(
    platform: Platform,
    agent_name: Annotated[str, "Its name; no other agent may have it."],
    tags_json: Annotated[list[str] | None, "List of tags."] = None,
    agent_id: Annotated[str | None, "Its id; else one is made."] = None,
) -> Agent:
    """Make an agent: an id into which skills can be loaded."""
    chosen = agent_id or f"agent-{platform.new_id()}"
    agent = await platform.agents.create(chosen, agent_name, tags=tags_json or ())
    return {**_shown(agent), "status": "created"}


@tool("conductor", "strategist")
async def read_agent(platform: Platform, agent_id: AgentId) -> Agent:
    """Read the record of an agent."""
    return _shown(await _agent(platform, agent_id))


@tool("conductor", "strategist")
async def list_agents(
    platform: Platform,
    tags_json: Annotated[list[str] | None, "Only with all of these tags."] = None,
    limit: Annotated[int, "At most so many.", Field(ge=1, le=500)] = 100,
    after: Annotated[int | None, "next_after of the page before."] = None,
) -> Agents:
    """List agents, the oldest first."""
    page = await platform.agents.page(after=after, limit=limit, tags=tags_json or ())
    return {"agents": [_listed(agent) for agent in page.agents], "next_after": page.after}


FAMILY = (
    create_agent,
    list_agents,
    read_agent,
    resolve_agent_name_to_id,
    delete_agent,
    remove_tool_return_limits,
)


async def _id_of(platform: Platform, name: str, member: str) -> str:
    found = await platform.agents.find(name)
    if found is None:
        raise _unknown(name, member)
    return found


def _unknown(name: str, member: str) -> Refused:
    fields: dict[str, Any] = {member: None}
    return Refused("unknown_agent", f"there is no agent called {name[:256]!r}", **fields)


async def _agent(platform: Platform, agent_id: str) -> AgentDocument:
    document = await platform.agents.get(agent_id)
    if document is None:
        raise UnknownAgent(agent=agent_id)
    return document


def _listed(agent: AgentDocument) -> dict[str, Any]:
    return {
        "agent_id": agent.agent_id,
        "agent_name": agent.name,
        "tags": list(agent.tags),
        "created_at": iso(agent.created_at),
    }


def _shown(agent: AgentDocument) -> Agent:
    return {
        "agent_id": agent.agent_id,
        "agent_name": agent.name,
        "tags": list(agent.tags),
        "revision": agent.revision,
        "created_at": iso(agent.created_at),
        "updated_at": iso(agent.updated_at),
        "loaded_skills": sorted(agent.record.get("dcf_active_skills") or {}),
        "record": agent.record,
    }
