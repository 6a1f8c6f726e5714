"""The conversations of agents on a Letta server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcf.agents.letta.archive import Archive
from dcf.agents.letta.connection import NotThere
from dcf.agents.letta.message_state import messages_of

if TYPE_CHECKING:
    from dcf.memory import Message

_PAGE = 500


class Conversations(Archive):
    """The agents of a server with all that they remember. What its methods do, AgentRuntime says.

    The server does not number messages: all are read to number some.
    """

    async def messages(
        self, agent_id: str, limit: int = 100, before: int | None = None
    ) -> tuple[Message, ...]:
        messages = await self.all_messages(agent_id)
        earlier = [one for one in messages if before is None or one.seq < before]
        return tuple(earlier[max(len(earlier) - limit, 0) :])

    async def all_messages(self, agent_id: str) -> tuple[Message, ...]:
        """Every message of the agent, in order. Raises UnknownAgent."""
        reader = await self.connection.reader()
        try:
            with self.connection.asking():
                pages = reader.agents.messages.list(agent_id, limit=_PAGE, order="asc")
                states = [state async for state in pages]
        except NotThere:
            await self.state(agent_id)
            raise
        return messages_of(agent_id, states)
