"""What an agent has loaded, where its own model sees it: tools by the names of models, instructions
as blocks, data in its archive.

The record in the control plane decides what may be called; what is attached here only tells. It is
derived from the record, so that whoever was interrupted says the same again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from control_plane import AgentStore
from dcf.agents.loading.skill_set import BLOCKS, TOOLS
from dcf.agents.local import LocalAgents
from dcf.memory import (
    BlockExists,
    NewBlock,
    NewPassage,
    RevisionConflict,
    ToolSpec,
    UnknownAgent,
    UnknownBlock,
    UnknownPassage,
)

if TYPE_CHECKING:
    from dcf.agents.runtime import AgentRuntime
    from dcf.memory import Actor, Agent

JSON = Any

ATTACHED = "dcf_loaded"
"""Member of an agent's metadata: ``{tools: [name], passages: {block id: passage id}}``, what was
attached because of skills."""
_BLOCK = "skill_block"
_NAME_LENGTH = 64
_ARCHIVAL = "archival_memory"


def tool_names(tools: Mapping[str, JSON]) -> dict[str, tuple[str, str]]:
    """What models call the ``tools`` of an agent's record: name to server and tool. A name that two
    servers have is said with the server, for both."""
    plain = {key: _plain(_declared(tool)) for key, tool in tools.items()}
    names: dict[str, tuple[str, str]] = {}
    for key, tool in sorted(tools.items()):
        name = plain[key]
        if list(plain.values()).count(name) > 1:
            name = _plain(f"{tool['server_id']}_{name}")
        number = 2
        while name in names:
            name = f"{name[: _NAME_LENGTH - 4]}_{number}"
            number += 1
        names[name] = (tool["server_id"], tool["tool_name"])
    return names


async def attach_loaded(
    runtime: AgentRuntime, agents: AgentStore, agent_id: str, *, by: Actor
) -> None:
    """Make what is attached to an agent what it has loaded. Agents that only have a record, because
    they live elsewhere, see it there."""
    document = await agents.get(agent_id, (BLOCKS, TOOLS))
    record = {} if document is None else document.record
    try:
        agent = await runtime.get(agent_id)
        await _attach(runtime, agent, record.get(TOOLS) or {}, record.get(BLOCKS) or {}, by)
    except UnknownAgent:
        return


async def _attach(
    runtime: AgentRuntime,
    agent: Agent,
    tools: Mapping[str, JSON],
    blocks: Mapping[str, JSON],
    by: Actor,
) -> None:
    before = dict(agent.metadata.get(ATTACHED) or {})
    specs = _specs(tools)
    wanted = sorted(spec.name for spec in specs)
    known = set(before.get("tools", ()))
    passages = dict(before.get("passages") or {})
    if known != set(wanted):
        # First on record, so that what is attached is always known to be there for skills.
        marks = {"tools": sorted({*known, *wanted}), "passages": passages}
        await _mark(runtime, agent.id, marks, by)
    await runtime.attach_tools(agent.id, specs, by=by)
    await runtime.detach_tools(agent.id, sorted(known - set(wanted)), by=by)
    shown = {key: one for key, one in blocks.items() if one["destination"] != _ARCHIVAL}
    await _show(runtime, agent.id, shown, by)
    kept = {key: one for key, one in blocks.items() if one["destination"] == _ARCHIVAL}
    after = {"tools": wanted, "passages": await _archive(runtime, agent.id, kept, passages, by)}
    if after != before and (before or any(after.values())):
        await _mark(runtime, agent.id, after, by)


async def _mark(runtime: AgentRuntime, agent_id: str, marks: JSON, by: Actor) -> None:
    while True:
        agent = await runtime.get(agent_id)
        metadata = {**agent.metadata, ATTACHED: marks}
        with suppress(RevisionConflict):
            await runtime.update(agent_id, by=by, expected=agent.revision, metadata=metadata)
            return


async def _show(
    runtime: AgentRuntime, agent_id: str, wanted: Mapping[str, JSON], by: Actor
) -> None:
    there = {
        str(block.metadata[_BLOCK]): block.label
        for block in await runtime.blocks(agent_id)
        if _BLOCK in block.metadata
    }
    for key, label in there.items():
        if key not in wanted:
            with suppress(UnknownBlock):
                await _take_away(runtime, agent_id, label, by)
    for key, one in wanted.items():
        if key not in there and one["value"]:
            new = NewBlock(
                one["label"],
                one["value"],
                description="What a loaded skill says.",
                type="project",
                read_only=True,
                metadata={_BLOCK: key},
            )
            # Two that load at once, or a label of the agent's own.
            with suppress(BlockExists):
                await _give(runtime, agent_id, new, by)


async def _give(runtime: AgentRuntime, agent_id: str, new: NewBlock, by: Actor) -> None:
    if isinstance(runtime, LocalAgents):
        await runtime.memory.blocks.create(agent_id, new, by=by)
    else:
        made = await runtime.create_block(new, by=by)
        await runtime.attach_block(agent_id, made.id, by=by)


async def _take_away(runtime: AgentRuntime, agent_id: str, label: str, by: Actor) -> None:
    if isinstance(runtime, LocalAgents):
        await runtime.memory.blocks.detach(agent_id, label, by=by, as_owner=True)
    else:
        await runtime.detach_block(agent_id, label, by=by)


async def _archive(
    runtime: AgentRuntime,
    agent_id: str,
    wanted: Mapping[str, JSON],
    there: Mapping[str, str],
    by: Actor,
) -> dict[str, str]:
    for key, passage in there.items():
        if key not in wanted:
            with suppress(UnknownPassage):
                await runtime.delete_passage(agent_id, passage, by=by)
    kept = {key: passage for key, passage in there.items() if key in wanted}
    for key, one in wanted.items():
        if key not in kept and one["value"]:
            new = NewPassage(one["value"], source=one["label"])
            kept[key] = (await runtime.insert_passage(agent_id, new, by=by)).id
    return kept


def _specs(tools: Mapping[str, JSON]) -> list[ToolSpec]:
    by_place = {(tool["server_id"], tool["tool_name"]): tool for tool in tools.values()}
    return [
        ToolSpec(name, _said(by_place[place], "description"), _schema(by_place[place]))
        for name, place in tool_names(tools).items()
    ]


def _schema(tool: Mapping[str, JSON]) -> dict[str, JSON]:
    schema = dict(_said(tool, "input_schema") or {})
    return {"type": "object", **schema}


def _said(tool: Mapping[str, JSON], member: str) -> JSON:
    """What the first of the skills that hold a tool says of it."""
    return tool["holders"][min(tool["holders"])][member]


def _declared(tool: Mapping[str, JSON]) -> str:
    return str(_said(tool, "name") or tool["tool_name"])


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_NAME_LENGTH] or "tool"
