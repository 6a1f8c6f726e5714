"""Changing an agent's fields."""

from __future__ import annotations

from collections.abc import Callable

from dcf.memory.agent import Agent
from dcf.memory.agents.creation import refuse_taken
from dcf.memory.agents.fields import AgentFields, agent_of, columns_of
from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import AGENT
from dcf.memory.errors import RevisionConflict


def update_agent(
    journal: Journal,
    agent_id: str,
    fields: AgentFields | Callable[[Agent], AgentFields],
    *,
    expected: int | None = None,
) -> Agent:
    """The agent with ``fields`` changed, which may depend on what it is.

    Raises UnknownAgent, RevisionConflict, InvalidEntry, AgentExists.
    """
    row = agent_row(journal.connection, agent_id)
    if expected is not None and row["revision"] != expected:
        raise RevisionConflict(
            what=f"agent {row['name']!r}", expected=expected, found=row["revision"]
        )
    columns = columns_of(fields(agent_of(row)) if callable(fields) else fields)
    if columns.get("name", row["name"]) != row["name"]:
        refuse_taken(journal.connection, columns["name"])
    after = {**row, **columns, "revision": row["revision"] + 1, "updated_at": journal.at}
    kept = journal.update(AGENT, row, after, agent_id=agent_id)
    return agent_of(row if kept is None else kept)
