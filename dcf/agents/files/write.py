"""Writing an agent file, in version 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dcf.agents.files.agent_file import AgentFile, FileAgent, FileBlock, FileTool
from dcf.agents.files.agent_form import AGENT
from dcf.agents.files.block_form import BLOCK
from dcf.agents.files.form import Form
from dcf.agents.files.message_form import calls_in, message_form
from dcf.agents.files.normal_form import NO_REST
from dcf.agents.files.secrets import VARIABLES
from dcf.agents.files.tool_form import TOOL


def write_agent_file(file: AgentFile) -> dict[str, Any]:
    """The JSON object of an agent file of version 2. Reading it gives ``file`` again."""
    return {
        "agents": [_agent(agent) for agent in file.agents],
        "blocks": [_block(block) for block in file.blocks],
        "tools": [tool_members(tool) for tool in file.tools],
        **NO_REST,
        **file.extra,
    }


def _agent(agent: FileAgent) -> dict[str, Any]:
    raw = AGENT.write(_values(AGENT, agent.new), agent.extra)
    messages = _messages(agent)
    named = [
        message["id"]
        for message, kept in zip(messages, agent.messages, strict=True)
        if kept.in_context
    ]
    order = agent.extra.get("in_context_message_ids")
    raw |= {
        "id": agent.id,
        "block_ids": list(agent.blocks),
        "tool_ids": list(agent.tools),
        "messages": messages,
        "in_context_message_ids": order if order and set(order) == set(named) else named,
    }
    if agent.secrets:
        raw |= dict.fromkeys(VARIABLES[1:])
        # An empty text is how the earlier system says: to be given by whoever imports the agent.
        raw[VARIABLES[0]] = dict.fromkeys(agent.secrets, "")
    return raw


def _messages(agent: FileAgent) -> list[dict[str, Any]]:
    form = message_form(calls_in(message.new for message in agent.messages))
    return [
        {"id": message.id, **form.write(_values(form, message.new), message.extra)}
        for message in agent.messages
    ]


def _block(block: FileBlock) -> dict[str, Any]:
    return {"id": block.id, **BLOCK.write(_values(BLOCK, block.new), block.extra)}


def tool_members(tool: FileTool) -> dict[str, Any]:
    """A tool as it stands in a file."""
    return {"id": tool.id, **TOOL.write(_values(TOOL, tool), tool.extra)}


def _values(form: Form, thing: Any) -> dict[str, Any]:
    """The fields of ``thing`` as JSON values."""
    values = {one.name: getattr(thing, one.name) for one in fields(thing)}
    return {name: _json(value) for name, value in values.items() if name in form.names}


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
