"""Removing an agent and all that is its own, in a way that can be undone."""

from __future__ import annotations

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.holding import release
from dcf.memory.entities import AGENT, ENTITIES, HOLDER


def delete_agent(journal: Journal, agent_id: str) -> None:
    """Remove the agent, what belongs to it, and blocks that nobody else holds; blocks of type
    ``shared`` stay. Raises UnknownAgent."""
    row = agent_row(journal.connection, agent_id)
    for entity in reversed(list(ENTITIES.values())):
        if entity.owner is None or entity is HOLDER:
            continue
        for own in entity.of_owner(journal.connection, agent_id):
            journal.delete(entity, own, agent_id=agent_id)
    for holder in HOLDER.of_owner(journal.connection, agent_id):
        release(journal, holder)
    journal.delete(AGENT, row, agent_id=agent_id)
