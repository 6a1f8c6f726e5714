"""Agent files of a Letta server: what it writes, and what it is given.

Program text of tools is never sent to it: whoever installs a tool on a server does that there.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from dcf.agents.files import AgentFile, FileAgent, read_agent_file, write_agent_file
from dcf.agents.letta.agent_state import agent_of, members_of, server_name
from dcf.agents.letta.block_state import members_of as block_members
from dcf.memory import AgentExists

if TYPE_CHECKING:
    from dcf.agents.assignment import JSON
    from dcf.agents.letta.connection import Connection
    from dcf.agents.letta.roster import Roster
    from dcf.memory import Agent

_SERVERS_OWN = "letta_"
"""How the kinds of tools begin that every server has."""


async def export_document(connection: Connection, agent_id: str) -> dict[str, JSON]:
    """The agent as the server writes it."""
    return cast("dict[str, JSON]", json.loads(await export_text(connection, agent_id)))


async def export_text(connection: Connection, agent_id: str) -> str:
    """The same, as text."""
    reader = await connection.reader()
    with connection.asking():
        written: Any = await reader.agents.export_file(agent_id)
    return written if isinstance(written, str) else json.dumps(written)


async def import_file(roster: Roster, document: Mapping[str, JSON]) -> tuple[Agent, ...]:
    """The agents of an agent file, made on the server. Raises InvalidAgentFile, AgentExists."""
    file = await asyncio.to_thread(lambda: read_agent_file(json.dumps(document)))
    return await put_agents(roster, file)


async def put_agents(roster: Roster, file: AgentFile) -> tuple[Agent, ...]:
    """The agents of ``file``, made on the server in one request; then what the server has no place
    for is written beside them. Raises AgentExists."""
    names = [agent.new.name for agent in file.agents]
    for at, name in enumerate(names):
        if name in names[:at] or await roster.find(name) is not None:
            raise AgentExists(name=name)
    models = [await roster.models(agent.new.model) for agent in file.agents]
    await roster.check_models({one["model"] for one in models})
    client = await roster.connection.client()
    document = json.dumps(_prepared(file)).encode()
    with roster.connection.asking():
        made = await client.agents.import_file(
            file=("agents.af", document), append_copy_suffix=False, **models[0]
        )
        settled: list[Agent] = []
        blocks: dict[str, str] = {}
        for agent, agent_id, model in zip(file.agents, made.agent_ids, models, strict=True):
            await _settle_blocks(roster, file, agent, agent_id, blocks)
            members = {**members_of(agent.new), **model}
            settled.append(agent_of(await client.agents.update(agent_id, **members)))
    return tuple(settled)


async def _settle_blocks(
    roster: Roster, file: AgentFile, agent: FileAgent, agent_id: str, done: dict[str, str]
) -> None:
    client = await roster.connection.client()
    new = {block.new.label: block for block in file.blocks if block.id in agent.blocks}
    held = [one async for one in client.agents.blocks.list(agent_id, limit=200)]
    for state in held:
        block = new.get(str(state.label))
        if block is None or block.id in done:
            continue
        done[block.id] = state.id
        members = block_members(block.new, block.new.value, roster.clock())
        del members["label"], members["value"]
        await client.blocks.update(state.id, **members)


def _prepared(file: AgentFile) -> dict[str, Any]:
    """``file`` as the server takes it."""
    tools = {tool.id: tool for tool in file.tools if tool.kind.startswith(_SERVERS_OWN)}
    agents: Sequence[FileAgent] = [
        replace(
            agent,
            new=replace(agent.new, name=server_name(agent.new.name), extra={}),
            tools=tuple(one for one in agent.tools if one in tools),
        )
        for agent in file.agents
    ]
    document = write_agent_file(replace(file, agents=tuple(agents), tools=tuple(tools.values())))
    for raw in document["agents"]:
        raw |= {"agent_type": "letta_v1_agent", "tool_rules": None, "enable_sleeptime": False}
    _put_prompts_first(document["agents"])
    return document


def _put_prompts_first(agents: Sequence[dict[str, Any]]) -> None:
    """The server takes the first message in context for the prompt, and writes it anew."""
    ids = [message["id"] for agent in agents for message in agent["messages"]]
    free = count(1 + max((int(number) for number in map(_number, ids) if number), default=0))
    for agent in agents:
        seen = agent["in_context_message_ids"]
        roles = {message["id"]: message["role"] for message in agent["messages"]}
        if seen and roles[seen[0]] != "system":
            own = f"message-{next(free)}"
            content = [{"type": "text", "text": agent["system"]}]
            prompt = {"id": own, "role": "system", "content": content}
            agent["messages"] = [prompt, *agent["messages"]]
            agent["in_context_message_ids"] = [own, *seen]


def _number(message_id: str) -> str:
    number = message_id.rpartition("-")[2]
    return number if re.fullmatch("[0-9]{1,18}", number) else ""
