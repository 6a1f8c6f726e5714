"""The blocks of agents on a Letta server, under the rules of the memory.

The server compares nothing when it writes a block, and holds it to no limit. What is promised is
kept here: a write sees every change that was made before it began, by whomever; writes of this
process follow each other. Of two processes that write within the same few milliseconds the later
one wins.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from dcf.agents.letta.block_state import block_of, members_of, written_at
from dcf.agents.letta.connection import NotThere
from dcf.agents.letta.roster import Roster
from dcf.memory import (
    Actor,
    Block,
    BlockExists,
    NewBlock,
    NoSuchBlock,
    ReadOnlyBlock,
    RevisionConflict,
    UnknownBlock,
)
from dcf.memory.rules import fit_block, fit_text

if TYPE_CHECKING:
    from letta_client.types import BlockResponse

_PAGE = 200


class HeldBlocks(Roster):
    """The agents of a server with their blocks. What its methods do, AgentRuntime says."""

    async def blocks(self, agent_id: str) -> tuple[Block, ...]:
        return tuple(block_of(state) for state in await self._held(agent_id))

    async def block(self, agent_id: str, label: str) -> Block:
        return block_of(await self._labelled(agent_id, label))

    async def create_block(self, new: NewBlock, *, by: Actor) -> Block:
        fitted = fit_block(new)
        client = await self.connection.client()
        with self.connection.asking():
            made = await client.blocks.create(**members_of(new, fitted.text, self.clock()))
        return block_of(made, fitted.warning)

    async def write_block(
        self, agent_id: str, label: str, value: str, *, by: Actor, expected: int | None = None
    ) -> Block:
        return await self.rewrite_block(agent_id, label, lambda _: value, expected=expected)

    async def rewrite_block(
        self,
        agent_id: str,
        label: str,
        rewrite: Callable[[str], str],
        *,
        expected: int | None = None,
    ) -> Block:
        """As ``write_block``; the new text is made of the one that is there."""
        async with self.lock((await self._labelled(agent_id, label)).id):
            state = await self._labelled(agent_id, label)
            block = block_of(state)
            if expected is not None and block.revision != expected:
                raise RevisionConflict(
                    what=f"block {label!r}", expected=expected, found=block.revision
                )
            if block.read_only:
                raise ReadOnlyBlock(label=label, what="writing")
            fitted = fit_text(block, rewrite(block.value))
            if fitted.text == block.value:
                return block_of(state, fitted.warning)
            client = await self.connection.client()
            with self.connection.asking():
                written = await client.blocks.update(
                    block.id, value=fitted.text, metadata=written_at(state, self.clock())
                )
            return block_of(written, fitted.warning)

    async def attach_block(self, agent_id: str, block_id: str, *, by: Actor) -> None:
        async with self.lock(agent_id):
            held = await self._held(agent_id)
            client, reader = await self.connection.client(), await self.connection.reader()
            try:
                with self.connection.asking():
                    label = (await reader.blocks.retrieve(block_id)).label
            except NotThere as gone:
                raise NoSuchBlock(block_id=block_id) from gone
            if any(one.label == label for one in held):
                raise BlockExists(agent_id=agent_id, label=label)
            with self.connection.asking():
                await client.agents.blocks.attach(block_id, agent_id=agent_id)

    async def detach_block(self, agent_id: str, label: str, *, by: Actor) -> None:
        async with self.lock(agent_id):
            state = await self._labelled(agent_id, label)
            client = await self.connection.client()
            with suppress(NotThere), self.connection.asking():
                await client.agents.blocks.detach(state.id, agent_id=agent_id)

    async def _held(self, agent_id: str) -> list[BlockResponse]:
        reader = await self.connection.reader()
        try:
            with self.connection.asking():
                return [one async for one in reader.agents.blocks.list(agent_id, limit=_PAGE)]
        except NotThere:
            await self.state(agent_id)
            raise

    async def _labelled(self, agent_id: str, label: str) -> BlockResponse:
        held = await self._held(agent_id)
        for state in held:
            if state.label == label:
                return state
        await self.state(agent_id)
        raise UnknownBlock(agent_id, label, [str(state.label) for state in held])
