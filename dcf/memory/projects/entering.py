"""Which project an agent works in: at most one at a time."""

from __future__ import annotations

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import PROJECT_AGENT


def enter(journal: Journal, agent_id: str, project: Row) -> None:
    """Let the agent work in the project; it leaves the one that it was in. Raises UnknownAgent."""
    agent_row(journal.connection, agent_id)
    found = PROJECT_AGENT.find(journal.connection, agent_id)
    if found is not None and found["project_id"] == project["id"]:
        return
    leave(journal, agent_id)
    row = {"agent_id": agent_id, "project_id": project["id"], "entered_at": journal.at}
    journal.create(PROJECT_AGENT, row, operation="entered", agent_id=agent_id)


def leave(journal: Journal, agent_id: str) -> None:
    """Let the agent work in no project. Raises UnknownAgent."""
    agent_row(journal.connection, agent_id)
    found = PROJECT_AGENT.find(journal.connection, agent_id)
    if found is not None:
        journal.delete(PROJECT_AGENT, found, operation="left", agent_id=agent_id)
