"""Agents: made, found, listed, read, deleted. Talking to them is the family ``messages``."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Annotated, Any

from pydantic import Field

from control_plane import AgentDocument, UnknownAgent
from dcf.agents.models import name_problems
from dcf.agents.templates import UnknownTemplate, template_named
from dcf.mcp.agent_life import agent_of, by_tool, id_of, make_agent, remove_agent
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import BadArguments, Envelope, Refused
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.memory import Agent as Remembering
from dcf.memory import NewAgent, NewBlock
from dcf.workflow import iso

AgentId = Annotated[str, Obvious("Id of the agent.")]
AgentName = Annotated[str, Obvious("Name of the agent, exactly.")]

_MISNAMED = frozenset({"MODEL_NAME", "MODEL_PROVIDER"})
_NAMED = "@"
"""Before the name behind which a listing goes on."""
_PLACE = re.compile("[0-9]{1,18}")
"""Where a listing of those that live elsewhere goes on."""


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
    """An agent."""

    agent_id: Annotated[str, Field(description="Its id.")]
    agent_name: Annotated[str, Field(description="Its name.")]
    tags: Annotated[list[str], Field(description="Its tags.")]
    revision: Annotated[int, Field(description="Grows with every change of its record.")]
    created_at: Annotated[str, Field(description="ISO 8601.")]
    updated_at: Annotated[str, Field(description="ISO 8601.")]
    loaded_skills: Annotated[list[str], Field(description="Manifest ids.")]
    record: Annotated[dict[str, Any], Field(description="What else is kept, by member.")]
    settings: Annotated[
        dict[str, Any] | None,
        Field(
            description="role, model, template, lifecycle…; null for one that lives elsewhere and"
            " only has a record here."
        ),
    ]


class Agents(Envelope, total=False):
    """Some agents."""

    agents: Annotated[
        list[dict[str, Any]], Field(description="{agent_id, agent_name, tags, created_at}.")
    ]
    next_after: Annotated[int | str | None, Field(description="Pass it as after for more.")]


@tool("planner", "strategist")
async def resolve_agent_name_to_id(platform: Platform, agent_name: AgentName) -> AgentFound:
    """Find an agent by its name."""
    return {"agent_id": await _id_of(platform, agent_name, "agent_id")}


@tool(strict=True)
async def delete_agent(platform: Platform, agent_name: AgentName) -> AgentDeleted:
    """Delete an agent with its memory; its history stays, its budget and use with its id."""
    agent_id = await _id_of(platform, agent_name, "deleted_agent_id")
    try:
        await remove_agent(platform, agent_id, by=by_tool("delete_agent"))
    except UnknownAgent as error:
        raise _unknown(agent_name, "deleted_agent_id") from error
    return {"status": "deleted", "deleted_agent_id": agent_id}


@tool()
async def remove_tool_return_limits(platform: Platform, agent_id: AgentId) -> LimitsRemoved:
    """Lift the limits of an agent's tool results; here there are none to lift."""
    await _agent(platform, agent_id)
    warning = "results are not cut here: what is large comes by reference"
    return {"status": "unlimited", "updated_count": 0, "warnings": [warning]}


@tool(strict=True)
async def create_agent(
    platform: Platform,
    agent_name: Annotated[str, Obvious("Its name; no other agent may have it.")],
    tags_json: Annotated[list[str] | None, Obvious("List of tags."), Alias("tags")] = None,
    agent_id: Annotated[str | None, Obvious("Its id; else one is made.")] = None,
    template: Annotated[str | None, "What it is made from: worker, companion…; else plain."] = None,
    model: Annotated[str | None, "provider:model; else that of its role."] = None,
    system: Annotated[str | None, "Its orders; else the template's."] = None,
    blocks_json: Annotated[
        dict[str, str] | None, "Label to text of memory blocks; else the usual, empty."
    ] = None,
) -> Agent:
    """Make an agent with a memory, to talk to and to load skills into."""
    doubtful = await _doubts_of(platform, model)
    new, blocks = _planned(platform, agent_name, template)
    new = replace(
        new,
        model=model or new.model,
        system=new.system if system is None else system,
        tags=tuple(tags_json or ()),
        lifecycle="persistent",
    )
    if blocks_json is not None:
        home = await platform.home()
        own = [await home.memory.labels.new(label, text) for label, text in blocks_json.items()]
        blocks = [*(one for one in blocks or () if one.label not in blocks_json), *own]
    by = by_tool("create_agent")
    made, document = await make_agent(platform, new, blocks, agent_id=agent_id, by=by)
    return {**_shown(document, made), "status": "created", "warnings": doubtful}


@tool("strategist")
async def read_agent(platform: Platform, agent_id: AgentId) -> Agent:
    """Read an agent: its settings and its record."""
    return _shown(*await _agent(platform, agent_id))


@tool("strategist")
async def list_agents(
    platform: Platform,
    tags_json: Annotated[
        list[str] | None, Obvious("Only with all of these tags."), Alias("tags")
    ] = None,
    limit: Annotated[int, Obvious("At most so many."), Field(ge=1, le=500)] = 100,
    after: Annotated[str | None, Obvious("next_after of the page before.")] = None,
) -> Agents:
    """List agents by name, then those that live elsewhere, the oldest first."""
    tags, home = tags_json or [], await platform.home()
    if after is None or after.startswith(_NAMED):
        behind = (after or _NAMED).removeprefix(_NAMED)
        page = await home.runtime.list(tags=tags, limit=limit, after=behind)
        if len(page) == limit:
            return {"agents": [_listed(one) for one in page], "next_after": _NAMED + page[-1].name}
        shown, left, since = [_listed(one) for one in page], limit - len(page), None
    elif _PLACE.fullmatch(after):
        shown, left, since = [], limit, int(after)
    else:
        raise Refused("bad_arguments", "after: is no next_after of this tool")
    more = await platform.agents.page(after=since, limit=left, tags=tags)
    for one in more.agents:
        if await agent_of(platform, one.agent_id) is None:
            shown.append(_listed(one))
    return {"agents": shown, "next_after": more.after}


FAMILY = (
    create_agent,
    list_agents,
    read_agent,
    resolve_agent_name_to_id,
    delete_agent,
    remove_tool_return_limits,
)


def _planned(
    platform: Platform, name: str, template: str | None
) -> tuple[NewAgent, list[NewBlock] | None]:
    if template is None:
        return NewAgent(name), None
    try:
        chosen = template_named(template, platform.config.templates)
    except UnknownTemplate as unknown:
        hint = unknown.problem.hint
        raise Refused("unknown_template", unknown.problem.message, hint=hint) from unknown
    return chosen.new_agent(name), list(chosen.blocks)


async def _doubts_of(platform: Platform, model: str | None) -> list[str]:
    """What keeps the model from being asked by this server as it is started now: another process
    may have its key. Raises BadArguments for what is no name of a model anywhere."""
    home = await platform.home()
    if model is None or not home.is_local:
        return []
    problems = name_problems(model, platform.config.env)
    misnamed = [replace(one, path="/model") for one in problems if one.code in _MISNAMED]
    if misnamed:
        raise BadArguments(misnamed)
    return [f"model: {one.message}{one.hint and f' ({one.hint})'}" for one in problems]


async def _id_of(platform: Platform, name: str, member: str) -> str:
    found = await id_of(platform, name)
    if found is None:
        raise _unknown(name, member)
    return found


def _unknown(name: str, member: str) -> Refused:
    fields: dict[str, Any] = {member: None}
    return Refused("unknown_agent", f"there is no agent called {name[:256]!r}", **fields)


async def _agent(
    platform: Platform, agent_id: str
) -> tuple[AgentDocument | None, Remembering | None]:
    document = await platform.agents.get(agent_id)
    agent = await agent_of(platform, agent_id)
    if document is None and agent is None:
        raise UnknownAgent(agent=agent_id)
    return document, agent


def _listed(agent: AgentDocument | Remembering) -> dict[str, Any]:
    return {
        "agent_id": agent.agent_id if isinstance(agent, AgentDocument) else agent.id,
        "agent_name": agent.name,
        "tags": list(agent.tags),
        "created_at": iso(agent.created_at),
    }


def _shown(document: AgentDocument | None, agent: Remembering | None) -> Agent:
    first = agent or document
    assert first is not None
    record = {} if document is None else document.record
    return {
        **_listed(first),  # type: ignore[typeddict-item]
        "revision": document.revision if document is not None else 0,
        "updated_at": iso(max(one.updated_at for one in (document, agent) if one is not None)),
        "loaded_skills": sorted(record.get("dcf_active_skills") or {}),
        "record": record,
        "settings": None if agent is None else _settings(agent),
    }


_TOLD_BESIDE = ("id", "name", "tags", "created_at", "updated_at", "extra", "metadata")


def _settings(agent: Remembering) -> dict[str, Any]:
    fields = asdict(agent)
    return {name: value for name, value in fields.items() if name not in _TOLD_BESIDE}
