"""The agents in the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

from dcf.memory.actor import Actor
from dcf.memory.agent import Agent, NewAgent
from dcf.memory.agents.creation import create_agent
from dcf.memory.agents.deletion import delete_agent
from dcf.memory.agents.fields import AgentFields, agent_of
from dcf.memory.agents.finding import agent_row, named_row, row_of_name, tagged_rows
from dcf.memory.agents.updating import update_agent
from dcf.memory.block import NewBlock
from dcf.memory.ledger import Ledger


class Agents:
    """Agents by id, name and tag."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def create(
        self,
        new: NewAgent,
        *,
        by: Actor,
        blocks: Sequence[NewBlock] | None = None,
        agent_id: str | None = None,
    ) -> Agent:
        """A new agent that holds ``blocks`` (None: one of each default label).

        Raises InvalidEntry with all that is wrong, AgentExists, UnknownAgent.
        """
        return await self._ledger.change(
            by, lambda journal: create_agent(journal, new, blocks=blocks, agent_id=agent_id)
        )

    async def get(self, agent_id: str) -> Agent:
        """The agent with this id. Raises UnknownAgent."""
        return await self._ledger.read(lambda connection: agent_of(agent_row(connection, agent_id)))

    async def find(self, name: str) -> Agent:
        """The agent with this name. Raises UnknownAgent with the closest names."""
        return await self._ledger.read(lambda connection: agent_of(named_row(connection, name)))

    async def named(self, name: str) -> Agent | None:
        """The agent with this name, if there is one."""
        row = await self._ledger.read(lambda connection: row_of_name(connection, name))
        return None if row is None else agent_of(row)

    async def list(
        self,
        *,
        tags: Sequence[str] = (),
        match: Literal["all", "any"] = "all",
        limit: int = 100,
        after: str = "",
    ) -> tuple[Agent, ...]:
        """Agents by name, those with all (or any) of ``tags``: at most ``limit``, from behind the
        name ``after``, which is the last of the page before."""
        rows = await self._ledger.read(
            lambda connection: tagged_rows(
                connection, tags=tags, match=match, limit=limit, after=after
            )
        )
        return tuple(map(agent_of, rows))

    async def update(
        self,
        agent_id: str,
        *,
        by: Actor,
        expected: int | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """The agent with ``fields`` changed; ``expected`` is the revision that it must have.

        Raises UnknownAgent, RevisionConflict, InvalidEntry, AgentExists.
        """
        return await self._ledger.change(
            by, lambda journal: update_agent(journal, agent_id, fields, expected=expected)
        )

    async def tag(
        self,
        agent_id: str,
        *,
        by: Actor,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
    ) -> Agent:
        """The agent with tags added and removed, whatever others do to its tags at the same time.

        Raises UnknownAgent, InvalidEntry.
        """

        return await self._ledger.change(
            by,
            lambda journal: update_agent(
                journal,
                agent_id,
                lambda agent: {"tags": tuple({*agent.tags, *add} - {*remove})},
            ),
        )

    async def delete(self, agent_id: str, *, by: Actor) -> None:
        """Remove the agent with all that is its own, and blocks that nobody else holds and that
        are not ``shared``. A rollback brings all of it back. Raises UnknownAgent."""
        await self._ledger.change(by, lambda journal: delete_agent(journal, agent_id))
