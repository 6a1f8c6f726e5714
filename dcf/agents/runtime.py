"""Where agents live, remember and work: the interface that every runtime gives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, Unpack

from dcf.agents.assignment import JSON, Assignment
from dcf.agents.performer import Observer, ToolCaller
from dcf.agents.reply import Receipt, Reply
from dcf.agents.report import Report
from dcf.agents.turn_event import TurnEvent

if TYPE_CHECKING:
    from dcf.memory import (
        Actor,
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

ToolUse: TypeAlias = Callable[[str, dict[str, JSON]], Awaitable[JSON]]
"""Calls an attached tool by name, through whatever decides that it may be called. An exception of
the tool layer (ToolsError) is told to the model as the tool's error; any other ends the turn."""

UseOf: TypeAlias = Callable[[str], Awaitable[ToolUse | None]]
"""How the attached tools of the agent with this id are called in the turn that begins; None where
they cannot be."""


class AgentRuntime(Protocol):
    """Agents with their memory, and turns of their conversations.

    Every method that takes an agent's id raises UnknownAgent, with the closest names, if there is
    no such agent. Changes are made ``by`` somebody and all of them or none of them are made. The
    errors are those of dcf.memory, and TaskError where a turn fails.
    """

    async def create(
        self, new: NewAgent, blocks: Sequence[NewBlock] | None = None, *, by: Actor
    ) -> Agent:
        """A new agent that holds ``blocks`` (None: one of each default label).

        Raises InvalidEntry with all that is wrong, AgentExists if the name is taken.
        """
        ...

    async def get(self, agent_id: str) -> Agent:
        """The agent with this id."""
        ...

    async def find(self, name: str) -> Agent | None:
        """The agent with this name, if there is one."""
        ...

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
        ...

    async def update(
        self,
        agent_id: str,
        *,
        by: Actor,
        expected: int | None = None,
        **fields: Unpack[AgentFields],
    ) -> Agent:
        """The agent with ``fields`` changed; ``expected`` is the revision that it must have.

        Raises RevisionConflict, InvalidEntry, AgentExists.
        """
        ...

    async def delete(self, agent_id: str, *, by: Actor) -> None:
        """Remove the agent with all that is its own; shared blocks stay."""
        ...

    async def blocks(self, agent_id: str) -> tuple[Block, ...]:
        """All blocks that the agent holds."""
        ...

    async def block(self, agent_id: str, label: str) -> Block:
        """The block that is ``label`` for the agent. Raises UnknownBlock."""
        ...

    async def create_block(self, new: NewBlock, *, by: Actor) -> Block:
        """A block that nobody holds yet. Raises InvalidEntry, OverLimit."""
        ...

    async def write_block(
        self, agent_id: str, label: str, value: str, *, by: Actor, expected: int | None = None
    ) -> Block:
        """Give the block another text; ``expected`` is the revision that it must have.

        Raises UnknownBlock, RevisionConflict, ReadOnlyBlock, InvalidEntry, OverLimit.
        """
        ...

    async def attach_block(self, agent_id: str, block_id: str, *, by: Actor) -> None:
        """Let the agent hold a block that there is. Raises NoSuchBlock, BlockExists."""
        ...

    async def detach_block(self, agent_id: str, label: str, *, by: Actor) -> None:
        """Let the agent hold the block no longer. Raises UnknownBlock."""
        ...

    async def tools(self, agent_id: str) -> tuple[ToolSpec, ...]:
        """The tools attached to the agent, by name."""
        ...

    async def attach_tools(self, agent_id: str, tools: Sequence[ToolSpec], *, by: Actor) -> None:
        """Let the agent's model know ``tools``; one of the same name takes the other's place.

        Raises InvalidEntry with all that is wrong.
        """
        ...

    async def detach_tools(self, agent_id: str, names: Sequence[str], *, by: Actor) -> None:
        """Take tools away again; names of tools that are not attached are no error."""
        ...

    async def insert_passage(self, agent_id: str, new: NewPassage, *, by: Actor) -> Passage:
        """Put a text into the agent's archive. Raises InvalidEntry."""
        ...

    async def passages(self, agent_id: str, limit: int = 100) -> tuple[Passage, ...]:
        """The passages of the archive, the oldest first."""
        ...

    async def search_passages(self, agent_id: str, query: str, k: int = 10) -> tuple[Passage, ...]:
        """The passages closest to ``query``, the closest first."""
        ...

    async def delete_passage(self, agent_id: str, passage_id: str, *, by: Actor) -> None:
        """Remove a passage. Raises UnknownPassage."""
        ...

    async def messages(
        self, agent_id: str, limit: int = 100, before: int | None = None
    ) -> tuple[Message, ...]:
        """The last ``limit`` messages (before the one with ``seq`` ``before``), in order."""
        ...

    async def send(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None = None,
        sender: str | None = None,
        correlation_id: str | None = None,
    ) -> Reply:
        """One turn, to its end: the message is kept, then the agent works until it answers.

        Turns of one agent follow each other. Raises TaskError if the turn fails; what was said and
        done by then is kept. Without ``use`` attached tools are not offered.
        """
        ...

    def stream(
        self,
        agent_id: str,
        text: str,
        *,
        use: ToolUse | None = None,
        sender: str | None = None,
        correlation_id: str | None = None,
    ) -> AsyncIterator[TurnEvent]:
        """The same turn, step by step: the last event is ``reply``. Who stops listening ends the
        turn."""
        ...

    async def send_async(
        self,
        agent_id: str,
        text: str,
        *,
        sender: str,
        timeout_s: float,
        correlation_id: str | None = None,
    ) -> Receipt:
        """Leave a message for the agent, which answers it in a turn of its own.

        It is kept when this returns and delivered at least once, until ``timeout_s`` from now.
        ``sender`` is an agent's id or any other name. Raises CircularMessage if, within the same
        ``correlation_id``, the agent waits for an answer of ``sender`` already.
        """
        ...

    async def reply_to(self, receipt: Receipt, timeout_s: float) -> Reply:
        """The answer to a message that was left. Raises ReplyTimeout, UnknownReceipt, and the
        TaskError with which the turn failed."""
        ...

    async def perform(
        self,
        assignment: Assignment,
        call_tool: ToolCaller,
        observe: Observer,
        *,
        agent_id: str | None = None,
    ) -> Report:
        """As TaskPerformer.perform; with ``agent_id`` that agent does it and remembers it."""
        ...

    async def export_file(self, agent_id: str) -> dict[str, JSON]:
        """The agent as an agent file (the JSON object of an ``.af``)."""
        ...

    async def import_file(self, document: Mapping[str, JSON], *, by: Actor) -> tuple[Agent, ...]:
        """The agents of an agent file, as new agents. Raises InvalidAgentFile, AgentExists."""
        ...

    async def aclose(self) -> None:
        """End turns that nobody waits for. Messages not yet answered stay to be delivered."""
        ...
