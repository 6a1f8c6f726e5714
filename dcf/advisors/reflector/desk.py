"""Small memory blocks of JSON that advisors keep on agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcf.advisors.reflector.board import KEEPER
from dcf.agents import AgentRuntime, LocalAgents
from dcf.memory import Block, NewBlock, UnknownBlock

REGISTRATION = "reflector_registration"
REFERENCE = "planner_reference"
_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Desk:
    """The blocks of one agent."""

    runtime: AgentRuntime
    agent_id: str

    async def find(self, label: str) -> Block | None:
        """The block, if there is one. Raises UnknownAgent."""
        try:
            return await self.runtime.block(self.agent_id, label)
        except UnknownBlock:
            return None

    async def put(self, label: str, value: Mapping[str, Any], description: str) -> Block:
        """Let the block say ``value``, made if it is missing. Where agents live in DCF it is closed
        to everybody else: who advises whom is not a matter of writing to a memory."""
        text = json.dumps(value, ensure_ascii=False)
        local = self.runtime if isinstance(self.runtime, LocalAgents) else None
        if await self.find(label) is None:
            return await self.add(
                NewBlock(
                    label=label,
                    value=text,
                    description=description,
                    hard_limit=_LIMIT,
                    read_only=local is not None,
                )
            )
        if local is None:
            return await self.runtime.write_block(self.agent_id, label, text, by=KEEPER)
        return await local.memory.blocks.write(self.agent_id, label, text, by=KEEPER, as_owner=True)

    async def add(self, new: NewBlock) -> Block:
        """Make a block and let the agent hold it."""
        block = await self.runtime.create_block(new, by=KEEPER)
        await self.runtime.attach_block(self.agent_id, block.id, by=KEEPER)
        return await self.runtime.block(self.agent_id, new.label)

    async def said(self, label: str) -> dict[str, Any]:
        """The JSON object in the block; empty if there is none that can be read."""
        block = await self.find(label)
        if block is None:
            return {}
        try:
            value = json.loads(block.value)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


async def reflector_of(runtime: AgentRuntime, planner_agent_id: str) -> str | None:
    """The id of the agent that is registered as Reflector of the Planner; None if nobody is.
    Raises UnknownAgent."""
    said = await Desk(runtime, planner_agent_id).said(REGISTRATION)
    found = said.get("reflector_agent_id")
    return found if isinstance(found, str) and found else None
