"""Agents on a Letta server: made, found, listed, changed, deleted; and the tools attached."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, Unpack
from weakref import WeakValueDictionary

from dcf.agents.letta.agent_state import (
    TOOLS,
    agent_of,
    handle_of,
    members_of,
    server_name,
    tools_of,
    with_tools,
)
from dcf.agents.letta.block_state import OURS, block_of
from dcf.agents.letta.block_state import members_of as block_members
from dcf.agents.letta.connection import NotThere
from dcf.agents.letta.errors import LettaSettings, no_model
from dcf.memory import (
    Actor,
    Agent,
    AgentExists,
    AgentFields,
    BlockExists,
    MemoryProblem,
    NewAgent,
    NewBlock,
    RevisionConflict,
    ToolSpec,
    UnknownAgent,
)
from dcf.memory.rules import check_agent, check_agent_fields, check_tools, fit_block

if TYPE_CHECKING:
    from letta_client.types import AgentState

    from dcf.agents.letta.connection import Connection
    from dcf.memory import Clock

_PAGE = 200
_MEMORY_TOOLS = (
    "core_memory_append",
    "core_memory_replace",
    "memory_rethink",
    "archival_memory_insert",
    "archival_memory_search",
    "conversation_search",
)
"""The server's own, for whoever talks to the agent without DCF; in DCF's turns DCF's tools of the
same names take their places."""


class Roster:
    """The agents of a server. What its methods do, AgentRuntime says.

    ``defaults`` are the blocks of an agent that is made without any; ``clock`` counts ms since the
    epoch.
    """

    def __init__(
        self, connection: Connection, *, defaults: Sequence[NewBlock], clock: Clock
    ) -> None:
        self.connection = connection
        self.clock = clock
        self._defaults = tuple(defaults)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def create(
        self, new: NewAgent, blocks: Sequence[NewBlock] | None = None, *, by: Actor
    ) -> Agent:
        held = self._defaults if blocks is None else tuple(blocks)
        check_agent(new)
        texts = [fit_block(block).text for block in held]
        labels = [block.label for block in held]
        for label in labels:
            if labels.count(label) > 1:
                raise BlockExists(agent_id=new.name, label=label)
        if await self.find(new.name) is not None:
            raise AgentExists(name=new.name)
        model, client = await self.models(new.model), await self.connection.client()
        made: list[str] = []
        try:
            with self.connection.asking():
                for block, text in zip(held, texts, strict=True):
                    members = block_members(block, text, self.clock())
                    made.append((await client.blocks.create(**members)).id)
                state = await client.agents.create(
                    **members_of(new),
                    **model,
                    agent_type="letta_v1_agent",
                    block_ids=made,
                    tools=list(_MEMORY_TOOLS),
                    include_base_tools=False,
                    include_base_tool_rules=False,
                    initial_message_sequence=[],
                )
        except BaseException:
            await asyncio.shield(self._drop_blocks(made))
            raise
        await self._first_of_its_name(new.name, state)
        # The server writes to it once more after it has answered with it.
        return await self.get(state.id)

    async def get(self, agent_id: str) -> Agent:
        return agent_of(await self.state(agent_id))

    async def find(self, name: str) -> Agent | None:
        found = await self._named(name)
        return agent_of(found[0]) if found else None

    async def list(
        self,
        *,
        tags: Sequence[str] = (),
        match: Literal["all", "any"] = "all",
        limit: int = 100,
        after: str = "",
    ) -> tuple[Agent, ...]:
        states = await self._states(tags=sorted(set(tags)), match_all_tags=match == "all")
        agents = sorted((agent_of(state) for state in states), key=lambda agent: agent.name)
        return tuple(agent for agent in agents if agent.name > after)[:limit]

    async def update(
        self,
        agent_id: str,
        *,
        by: Actor,
        expected: int | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        async with self.lock(agent_id):
            state = await self.state(agent_id)
            agent = agent_of(state)
            if expected is not None and agent.revision != expected:
                raise RevisionConflict(
                    what=f"agent {agent.name!r}", expected=expected, found=agent.revision
                )
            check_agent_fields(fields)
            name = fields.get("name", agent.name)
            if name != agent.name and await self.find(name) is not None:
                raise AgentExists(name=name)
            changed = NewAgent(**{**_new(agent), **fields})
            model: dict[str, Any] = {}
            if "model" in fields:
                model = await self.models(fields["model"])
            tools: Any = (state.metadata or {}).get(TOOLS)
            client = await self.connection.client()
            with self.connection.asking():
                return agent_of(
                    await client.agents.update(agent_id, **members_of(changed, tools), **model)
                )

    async def delete(self, agent_id: str, *, by: Actor) -> None:
        async with self.lock(agent_id):
            await self.state(agent_id)
            client, reader = await self.connection.client(), await self.connection.reader()
            with self.connection.asking():
                held = [block async for block in reader.agents.blocks.list(agent_id, limit=_PAGE)]
                await client.agents.delete(agent_id)
            for block in held:
                if OURS in (block.tags or ()) and block_of(block).type != "shared":
                    with suppress(NotThere), self.connection.asking():
                        holders = reader.blocks.agents.list(block.id, limit=1)
                        if not [holder async for holder in holders]:
                            await client.blocks.delete(block.id)

    async def tools(self, agent_id: str) -> tuple[ToolSpec, ...]:
        return tools_of(await self.state(agent_id))

    async def attach_tools(self, agent_id: str, tools: Sequence[ToolSpec], *, by: Actor) -> None:
        async with self.lock(agent_id):
            state = await self.state(agent_id)
            check_tools(tools)
            await self._keep_tools(
                state, {tool.name: tool for tool in (*tools_of(state), *tools)}.values()
            )

    async def detach_tools(self, agent_id: str, names: Sequence[str], *, by: Actor) -> None:
        async with self.lock(agent_id):
            state = await self.state(agent_id)
            await self._keep_tools(
                state, [tool for tool in tools_of(state) if tool.name not in names]
            )

    async def state(self, agent_id: str, *more: Literal["agent.pending_approval"]) -> AgentState:
        """The agent as the server has it. Raises UnknownAgent."""
        reader = await self.connection.reader()
        try:
            with self.connection.asking():
                return await reader.agents.retrieve(agent_id, include=["agent.tags", *more])
        except NotThere as gone:
            raise UnknownAgent(agent_id, await self.closest(agent_id)) from gone

    async def closest(self, name: str) -> Sequence[str]:
        """The names of agents that are closest to ``name``."""
        names = [agent_of(state).name for state in await self._states()]
        return get_close_matches(name, names, n=3)

    def lock(self, name: str) -> asyncio.Lock:
        """For changes of ``name`` in this process, one after another."""
        return self._locks.setdefault(name, asyncio.Lock())

    async def _keep_tools(self, state: AgentState, tools: Any) -> None:
        client = await self.connection.client()
        metadata = with_tools(state.metadata, tuple(tools))
        with self.connection.asking():
            await client.agents.update(state.id, metadata=metadata)

    async def _states(self, **filters: Any) -> tuple[AgentState, ...]:
        reader = await self.connection.reader()
        asked = {name: value for name, value in filters.items() if value not in ([], None)}
        with self.connection.asking():
            pages = reader.agents.list(
                **asked, limit=_PAGE, order="asc", order_by="created_at", include=["agent.tags"]
            )
            return tuple([state async for state in pages])

    async def _named(self, name: str) -> tuple[AgentState, ...]:
        """The agents called ``name``, the first that was made first: there should be one."""
        if not name:
            return ()
        states = await self._states(name=server_name(name))
        found = [state for state in states if agent_of(state).name == name]
        return tuple(sorted(found, key=lambda state: (str(state.created_at), state.id)))

    async def _first_of_its_name(self, name: str, state: AgentState) -> None:
        """The server does not keep names apart: of two that were made at once one stays."""
        found = await self._named(name)
        if found and found[0].id != state.id:
            await asyncio.shield(self.delete(state.id, by=Actor("system", "dcf")))
            raise AgentExists(name=name)

    async def _drop_blocks(self, block_ids: Sequence[str]) -> None:
        client = await self.connection.client()
        for block_id in block_ids:
            with suppress(MemoryProblem), self.connection.asking():
                await client.blocks.delete(block_id)

    async def models(self, asked: str | None) -> dict[str, Any]:
        """The handles for a new agent. Raises LettaSettings if no model is set and there are
        several."""
        server = self.connection.server
        handles = {"model": handle_of(asked) or server.model or await self._only_model()}
        return handles | ({"embedding": server.embedding} if server.embedding else {})

    async def check_models(self, handles: Collection[str]) -> None:
        """Raises LettaSettings if the server does not have all of ``handles``."""
        listed = await self._listed_models()
        missing = sorted(set(handles) - set(listed))
        if missing:
            raise LettaSettings([no_model(f"the Letta server has no {missing[0]}", listed)])

    async def _only_model(self) -> str:
        # A hosted model of Letta's own is listed everywhere; nobody is sent there unasked.
        listed = await self._listed_models()
        own = [handle for handle in listed if not handle.startswith("letta/")]
        if len(own) == 1:
            return own[0]
        raise LettaSettings([no_model("no model is set for agents on the Letta server", own)])

    async def _listed_models(self) -> Sequence[str]:
        reader = await self.connection.reader()
        with self.connection.asking():
            return [str(model.handle) for model in await reader.models.list()]


def _new(agent: Agent) -> dict[str, Any]:
    return {name: getattr(agent, name) for name in NewAgent.__dataclass_fields__}
