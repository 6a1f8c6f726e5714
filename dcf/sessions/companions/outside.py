"""Companions from outside as agents: each has a record, into which skills are loaded."""

from __future__ import annotations

from contextlib import suppress

from control_plane import AgentStore, BadName, UnknownAgent
from dcf.agents.loading import delete_agent
from dcf.sessions.companions.agents import BY, ROLE
from dcf.sessions.seat import agent_of

OUTSIDE = "external"
"""Tag of agents that work from outside: they have a record, and no memory."""
_SESSION = "session:"
_PAGE = 500


def outside_tags(session_id: str) -> tuple[str, ...]:
    """The tags of the record of a companion from outside."""
    return OUTSIDE, ROLE, f"{_SESSION}{session_id}"


async def outside_records(
    records: AgentStore, session_id: str | None = None
) -> list[tuple[str, str, str]]:
    """The companions from outside that have a record, of one session if one is named: agent,
    session, companion."""
    tags = (OUTSIDE, ROLE) if session_id is None else outside_tags(session_id)
    found: list[tuple[str, str, str]] = []
    after: int | None = None
    while True:
        page = await records.page(after=after, limit=_PAGE, tags=tags)
        for agent in page.agents:
            for tag in agent.tags:
                of, is_tag = tag.removeprefix(_SESSION), tag.startswith(_SESSION)
                if is_tag and agent.agent_id.startswith(agent_of(of, "")):
                    one = agent.agent_id.removeprefix(agent_of(of, ""))
                    found.append((agent.agent_id, of, one))
        after = page.after
        if after is None:
            return found


async def forget_outside(records: AgentStore, agent_id: str) -> None:
    """Take away the record of a companion from outside, with the skills that it has loaded."""
    # It may have had none, never having taken a task.
    with suppress(UnknownAgent, BadName):
        await delete_agent(records, agent_id, by=BY.name)
