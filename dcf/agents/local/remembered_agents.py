"""The part of a runtime that is memory alone: agents with their blocks, tools, passages, messages
and files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from dcf.agents.assignment import JSON
from dcf.memory import Actor, Memory, UnknownPassage

if TYPE_CHECKING:
    from dcf.memory import (
        Agent,
        AgentFields,
        Block,
        Message,
        NewAgent,
        NewBlock,
        NewPassage,
        Passage,
        ToolSpec,
    )


class RememberedAgents:
    """The agents of ``memory``. What its methods do, AgentRuntime says."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    async def create(
        self, new: NewAgent, blocks: Sequence[NewBlock] | None = None, *, by: Actor
    ) -> Agent:
        return await self.memory.agents.create(new, by=by, blocks=blocks)

    async def get(self, agent_id: str) -> Agent:
        return await self.memory.agents.get(agent_id)

    async def find(self, name: str) -> Agent | None:
        return await self.memory.agents.named(name)

    async def list(
        self,
        *,
        tags: Sequence[str] = (),
        match: Literal["all", "any"] = "all",
        limit: int = 100,
        after: str = "",
    ) -> tuple[Agent, ...]:
        return await self.memory.agents.list(tags=tags, match=match, limit=limit, after=after)

    async def update(
        self,
        agent_id: str,
        *,
        by: Actor,
        expected: int | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        return await self.memory.agents.update(agent_id, by=by, expected=expected, **fields)

    async def delete(self, agent_id: str, *, by: Actor) -> None:
        await self.memory.agents.delete(agent_id, by=by)

    async def blocks(self, agent_id: str) -> tuple[Block, ...]:
        return await self.memory.blocks.list(agent_id)

    async def block(self, agent_id: str, label: str) -> Block:
        return await self.memory.blocks.read(agent_id, label)

    async def create_block(self, new: NewBlock, *, by: Actor) -> Block:
        return await self.memory.blocks.create(None, new, by=by)

    async def write_block(
        self, agent_id: str, label: str, value: str, *, by: Actor, expected: int | None = None
    ) -> Block:
        return await self.memory.blocks.write(agent_id, label, value, by=by, expected=expected)

    async def attach_block(self, agent_id: str, block_id: str, *, by: Actor) -> None:
        await self.memory.blocks.attach(agent_id, block_id, by=by)

    async def detach_block(self, agent_id: str, label: str, *, by: Actor) -> None:
        await self.memory.blocks.detach(agent_id, label, by=by)

    async def tools(self, agent_id: str) -> tuple[ToolSpec, ...]:
        return await self.memory.attached_tools.list(agent_id)

    async def attach_tools(self, agent_id: str, tools: Sequence[ToolSpec], *, by: Actor) -> None:
        await self.memory.attached_tools.attach(agent_id, tools, by=by)

    async def detach_tools(self, agent_id: str, names: Sequence[str], *, by: Actor) -> None:
        await self.memory.attached_tools.detach(agent_id, names, by=by)

    async def insert_passage(self, agent_id: str, new: NewPassage, *, by: Actor) -> Passage:
        (passage,) = await self.memory.passages.insert(agent_id, new, by=by)
        return passage

    async def passages(self, agent_id: str, limit: int = 100) -> tuple[Passage, ...]:
        return await self.memory.passages.list(agent_id, limit=limit)

    async def search_passages(self, agent_id: str, query: str, k: int = 10) -> tuple[Passage, ...]:
        await self.get(agent_id)
        found = await self.memory.search.find(query, k=k, agent_ids=[agent_id], kinds=("passage",))
        return tuple([await self.memory.passages.get(one.ref) for one in found])

    async def delete_passage(self, agent_id: str, passage_id: str, *, by: Actor) -> None:
        await self.get(agent_id)
        passage = await self.memory.passages.get(passage_id)
        if passage.agent_id != agent_id:
            raise UnknownPassage(passage_id=passage_id)
        await self.memory.passages.delete(passage_id, by=by)

    async def messages(
        self, agent_id: str, limit: int = 100, before: int | None = None
    ) -> tuple[Message, ...]:
        return await self.memory.messages.list(agent_id, limit=limit, before=before, newest=True)

    async def export_file(self, agent_id: str) -> dict[str, JSON]:
        from dcf.agents.files import export_agents, write_agent_file

        return write_agent_file(await export_agents(self.memory, [agent_id]))

    async def import_file(self, document: Mapping[str, JSON], *, by: Actor) -> tuple[Agent, ...]:
        from dcf.agents.files import import_agents, read_agent_file

        read = await asyncio.to_thread(lambda: read_agent_file(json.dumps(document)))
        return await import_agents(self.memory, read, by=by)
