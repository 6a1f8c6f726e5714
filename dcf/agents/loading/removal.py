"""Deleting an agent with all that waits for it."""

from __future__ import annotations

from control_plane import AgentDocument, AgentStore, UnknownAgent
from dcf.agents.loading.approvals import MEMBER, index_member
from dcf.agents.loading.usage import BUDGET, USAGE


async def delete_agent(agents: AgentStore, agent_id: str, *, by: str = "") -> AgentDocument:
    """Delete the agent and take its open approvals off the list; what it was. Its history stays for
    a week; its budget and what it has used stay with its id, so that nobody gets a new budget by
    being made anew. Raises UnknownAgent."""
    document = await agents.get(agent_id, (MEMBER,))
    if document is None:
        raise UnknownAgent(agent=agent_id)
    open_ = [index_member(agent_id, name) for name in document.record.get(MEMBER) or {}]
    await agents.delete(document, by=by, settled=open_, keep=(BUDGET, USAGE))
    return document
