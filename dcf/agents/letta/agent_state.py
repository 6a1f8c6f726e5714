"""An agent of ours as an agent of the server, and back.

What the server has no place for stands in the agent's metadata: under ``dcf`` as in an agent file,
under ``dcf_extra`` what came with it from a file, under ``dcf_tools`` the tools attached to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields as fields_in
from datetime import datetime
from typing import TYPE_CHECKING, Any

from dcf.agents.files.agent_form import AGENT, named_handle
from dcf.agents.files.form import OWN
from dcf.agents.letta.revision import revision_of
from dcf.agents.local.orders import orders_of
from dcf.memory import Agent, NewAgent, ToolSpec

if TYPE_CHECKING:
    from letta_client.types import AgentState

EXTRA = "dcf_extra"
TOOLS = "dcf_tools"
_HOUSE = (OWN, EXTRA, TOOLS)
_SAID = (
    "name",
    "description",
    "system",
    "context_window_limit",
    "parallel_tool_calls",
    "tags",
)
"""Members of an agent file that the server takes as they are."""
_UNNAMEABLE = re.compile(r"[^\w '-]")


def server_name(name: str) -> str:
    """``name`` in the characters that the server allows."""
    return _UNNAMEABLE.sub("_", name)


def agent_of(state: AgentState) -> Agent:
    """The agent as it is on the server."""
    fields = _fields_of(state)
    metadata = dict(fields.pop("metadata"))
    extra = metadata.pop(EXTRA, None) or {}
    metadata.pop(TOOLS, None)
    fields |= {"metadata": metadata, "extra": extra, "tags": tuple(fields["tags"])}
    return Agent(
        id=state.id,
        **fields,
        revision=revision_of(fields),
        created_at=_ms(state.created_at),
        updated_at=_ms(state.updated_at or state.created_at),
    )


def tools_of(state: AgentState) -> tuple[ToolSpec, ...]:
    """The tools attached to the agent, by name."""
    kept = (state.metadata or {}).get(TOOLS)
    tools = kept if isinstance(kept, dict) else {}
    return tuple(
        ToolSpec(name, tool["description"], tool["input_schema"])
        for name, tool in sorted(tools.items())
    )


def with_tools(metadata: Mapping[str, Any] | None, tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """``metadata`` with ``tools`` as all that are attached."""
    kept = {
        tool.name: {"description": tool.description, "input_schema": dict(tool.input_schema)}
        for tool in tools
    }
    rest = {name: value for name, value in (metadata or {}).items() if name != TOOLS}
    return {**rest, TOOLS: kept} if kept else rest


def members_of(agent: NewAgent | Agent, tools: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the server is told of an agent, its model not included; ``tools`` are those attached, as
    its metadata has them."""
    values = {one.name: getattr(agent, one.name) for one in fields_in(NewAgent)}
    extra = values.pop("extra")
    values |= {"metadata": dict(values["metadata"]), "tags": sorted(set(values["tags"]))}
    written = AGENT.write(values, {})
    own = written["metadata"].setdefault(OWN, {})
    # Sleep-time agents of the server would be agents that nobody made.
    own["enable_sleeptime"] = agent.enable_sleeptime
    if server_name(agent.name) != agent.name:
        own["name"] = agent.name
    if extra:
        written["metadata"][EXTRA] = dict(extra)
    if tools:
        written["metadata"][TOOLS] = dict(tools)
    members = {name: written[name] for name in (*_SAID, "metadata")}
    return members | {
        "name": server_name(agent.name),
        "description": agent.description,
        "system": agent.system if agent.system.strip() else orders_of(agent),
        "tags": list(values["tags"]),
    }


def own_system(name: str, system: str) -> str:
    """The agent's own orders: none, where the server has those that DCF gives any agent."""
    return "" if system == orders_of(NewAgent(name)) else system


def handle_of(model: str | None) -> str | None:
    """The server's name for a model; None for what has none there (the rehearsal)."""
    if model is None or "/" in model.partition(":")[0]:
        return model
    return named_handle(model) if ":" in model else None


def _fields_of(state: AgentState) -> dict[str, Any]:
    config = state.llm_config.model_dump(mode="json") if state.llm_config else {}
    raw = {
        "name": state.name,
        "description": state.description,
        "system": state.system,
        "model": state.model,
        "llm_config": config,
        "tags": list(state.tags or ()),
        "metadata": dict(state.metadata or {}),
    }
    fields, _ = AGENT.read(raw)
    return fields | {"system": own_system(fields["name"], fields["system"])}


def _ms(at: datetime | None) -> int:
    return 0 if at is None else int(at.timestamp() * 1000)
