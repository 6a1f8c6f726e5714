"""Records of agents. The shape of one is ``schemas/agent.schema.json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from control_plane.errors import AgentBusy, AgentExists, UnknownAgent
from control_plane.record_document import RecordChange, RecordDocument
from control_plane.record_kind import RecordKind
from control_plane.record_reader import RecordPage
from control_plane.records import RecordConflict, RecordStore

AgentChange = RecordChange
AgentConflict = RecordConflict

AGENT_ID = r"[A-Za-z0-9_.:-]{1,128}"
AGENT_ID_RULE = "1 to 128 characters of A-Z a-z 0-9 _ . : -, not ending with :history"


class AgentDocument(RecordDocument):
    """The record of an agent."""

    __slots__ = ()
    ID_MEMBER: ClassVar[str] = "agent_id"

    @property
    def agent_id(self) -> str:
        return self.id


class AgentPage(RecordPage[AgentDocument]):
    """Some agents in the order in which they were made."""

    __slots__ = ()

    @property
    def agents(self) -> tuple[AgentDocument, ...]:
        return self.records


AGENTS = RecordKind(
    noun="agent",
    document=AgentDocument,
    place="agent",
    index="agents",
    ids=AGENT_ID,
    rule=AGENT_ID_RULE,
    unknown=UnknownAgent,
    exists=AgentExists,
    busy=AgentBusy,
    newest=5_000,
)


class AgentStore(RecordStore[AgentDocument]):
    """The records of agents: ``cp:agent:{id}``."""

    kind = AGENTS

    async def page(
        self, *, after: int | None = None, limit: int = 100, tags: Sequence[str] = ()
    ) -> AgentPage:
        """Up to ``limit`` agents that have all of ``tags``, the oldest first."""
        found = await super().page(after=after, limit=limit, tags=tags)
        return AgentPage(found.records, found.after)


def check_agent_id(agent_id: str) -> str:
    """``agent_id`` itself. Raises BadName unless it matches ``[A-Za-z0-9_.:-]{1,128}`` and does not
    end with ``:history``."""
    return AGENTS.check_id(agent_id)
