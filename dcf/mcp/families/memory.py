"""What agents remember: their blocks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from dcf.mcp.agent_life import by_tool
from dcf.mcp.agents_home import local_memory
from dcf.mcp.envelope import Envelope
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.memory import Block, NewBlock
from dcf.workflow import iso

AgentId = Annotated[str, Obvious("Id of the agent.")]
Label = Annotated[str, Obvious("Label that the block has for the agent.")]
Expected = Annotated[int | None, Obvious("Revision that you saw; refused if it is another by now.")]
Size = Annotated[int | None, "Bytes.", Field(ge=0)]
_WHOLE = 50_000


class BlockShown(Envelope, total=False):
    """A memory block."""

    agent_id: Annotated[str | None, Field(description="Who holds it.")]
    block_id: Annotated[str, Field(description="Its id.")]
    label: Annotated[str, Field(description="Its label for the agent.")]
    value: Annotated[str, Field(description="Its text, or the part that was asked for.")]
    size: Annotated[int, Field(description="Characters of the whole text.")]
    revision: Annotated[int, Field(description="Grows with every change.")]
    description: Annotated[str, Field(description="What it is for.")]
    type: Annotated[str, Field(description="global, project or shared.")]
    read_only: Annotated[bool, Field(description="Whether only its keepers change it.")]
    soft_limit: Annotated[int | None, Field(description="Bytes that it should not exceed.")]
    hard_limit: Annotated[int | None, Field(description="Bytes that it cannot exceed.")]
    on_limit: Annotated[str, Field(description="warn, truncate or reject.")]
    updated_at: Annotated[str, Field(description="ISO 8601.")]


class BlocksShown(Envelope, total=False):
    """The blocks of an agent."""

    agent_id: Annotated[str, Field(description="Who holds them.")]
    blocks: Annotated[
        list[dict[str, Any]], Field(description="As read_memory_block gives them, without value.")
    ]


class Done(Envelope, total=False):
    """A block that is held otherwise now."""

    agent_id: Annotated[str | None, Field(description="The agent.")]
    label: Annotated[str, Field(description="The label.")]


@tool("companion", "strategist", "reflector")
async def list_memory_blocks(platform: Platform, agent_id: AgentId) -> BlocksShown:
    """List the memory blocks of an agent."""
    home = await platform.home()
    found = await home.runtime.blocks(agent_id)
    return {"agent_id": agent_id, "blocks": [_fields(one) for one in found]}


@tool("companion", "strategist", "reflector")
async def read_memory_block(
    platform: Platform,
    agent_id: AgentId,
    label: Label,
    offset: Annotated[int, "First character.", Field(ge=0)] = 0,
    length: Annotated[int, "Characters.", Field(ge=1, le=1_000_000)] = _WHOLE,
) -> BlockShown:
    """Read a memory block."""
    home = await platform.home()
    block = await home.runtime.block(agent_id, label)
    value = block.value[offset : offset + length]
    return {"agent_id": agent_id, **_fields(block), "value": value}  # type: ignore[typeddict-item]


@tool("strategist", strict=True)
async def write_memory_block(
    platform: Platform,
    agent_id: AgentId,
    label: Label,
    value: Annotated[str, Obvious("The new text.")],
    expected_revision: Expected = None,
) -> BlockShown:
    """Give a memory block another text."""
    home = await platform.home()
    by = by_tool("write_memory_block")
    block = await home.runtime.write_block(
        agent_id, label, value, by=by, expected=expected_revision
    )
    return _written(agent_id, block)


@tool("companion", "strategist", strict=True)
async def append_memory_block(
    platform: Platform,
    agent_id: AgentId,
    label: Label,
    text: Annotated[str, "What is added on a new line."],
) -> BlockShown:
    """Add to a memory block, whatever others do at the same time."""
    memory = await local_memory(platform)
    by = by_tool("append_memory_block")
    return _written(agent_id, await memory.blocks.append(agent_id, label, text, by=by))


@tool("strategist", strict=True)
async def replace_in_memory_block(
    platform: Platform,
    agent_id: AgentId,
    label: Label,
    old_text: Annotated[str, "What is there exactly once."],
    new_text: Annotated[str, Obvious("What takes its place.")],
) -> BlockShown:
    """Replace a piece of a memory block."""
    memory = await local_memory(platform)
    by = by_tool("replace_in_memory_block")
    block = await memory.blocks.replace(agent_id, label, old_text, new_text, by=by)
    return _written(agent_id, block)


@tool(strict=True)
async def create_memory_block(
    platform: Platform,
    label: Annotated[str, Obvious("Its label.")],
    value: Annotated[str, Obvious("Its text.")] = "",
    agent_id: Annotated[str | None, "Who holds it; else nobody yet."] = None,
    description: Annotated[str, Obvious("What it is for.")] = "",
    type: Annotated[Literal["global", "project", "shared"], "shared outlives its agents."] = (
        "global"
    ),
    soft_limit: Size = None,
    hard_limit: Size = None,
    on_limit: Annotated[Literal["warn", "truncate", "reject"], "Over hard_limit."] = "reject",
) -> BlockShown:
    """Make a memory block."""
    home = await platform.home()
    by = by_tool("create_memory_block")
    new = NewBlock(
        label,
        value,
        description=description,
        type=type,
        soft_limit=soft_limit,
        hard_limit=hard_limit,
        on_limit=on_limit,
    )
    if home.is_local:
        block = await home.memory.blocks.create(agent_id, new, by=by)
    else:
        block = await home.runtime.create_block(new, by=by)
        if agent_id is not None:
            await home.runtime.attach_block(agent_id, block.id, by=by)
    return {**_written(agent_id, block), "status": "created"}


@tool(strict=True)
async def attach_memory_block(
    platform: Platform,
    agent_id: AgentId,
    block_id: Annotated[str, Obvious("Of a block that there is.")],
) -> Done:
    """Let an agent hold a memory block that others have."""
    home = await platform.home()
    await home.runtime.attach_block(agent_id, block_id, by=by_tool("attach_memory_block"))
    return {"status": "attached", "agent_id": agent_id}


@tool(strict=True)
async def detach_memory_block(platform: Platform, agent_id: AgentId, label: Label) -> Done:
    """Take a memory block from an agent; one that is not shared goes with its last holder."""
    home = await platform.home()
    await home.runtime.detach_block(agent_id, label, by=by_tool("detach_memory_block"))
    return {"status": "detached", "agent_id": agent_id, "label": label}


@tool(strict=True)
async def delete_memory_block(
    platform: Platform,
    agent_id: AgentId,
    label: Label,
    expected_revision: Expected = None,
) -> Done:
    """Delete a memory block that nobody else holds; rollback_memory brings it back."""
    memory = await local_memory(platform)
    by = by_tool("delete_memory_block")
    await memory.blocks.delete(agent_id, label, by=by, expected=expected_revision)
    return {"status": "deleted", "agent_id": agent_id, "label": label}


FAMILY = (
    list_memory_blocks,
    read_memory_block,
    write_memory_block,
    append_memory_block,
    replace_in_memory_block,
    create_memory_block,
    attach_memory_block,
    detach_memory_block,
    delete_memory_block,
)


def _fields(block: Block) -> dict[str, Any]:
    return {
        "block_id": block.id,
        "label": block.label,
        "size": len(block.value),
        "revision": block.revision,
        "description": block.description,
        "type": block.type,
        "read_only": block.read_only,
        "soft_limit": block.soft_limit,
        "hard_limit": block.hard_limit,
        "on_limit": block.on_limit,
        "updated_at": iso(block.updated_at),
    }


def _written(agent_id: str | None, block: Block) -> BlockShown:
    """Without its text: whoever wrote it has it."""
    shown: BlockShown = {"status": "written", "agent_id": agent_id, **_fields(block)}  # type: ignore[typeddict-item]
    if block.warning:
        shown["warnings"] = [block.warning]
    return shown
