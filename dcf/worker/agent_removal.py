"""Deleting an agent wherever it is: in the runtime, and on record in the control plane.

It loses its record first: from then on nothing can be called in its name. Whoever stops in between
is finished by whoever says it again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from control_plane import AgentStore, BadName
from control_plane import UnknownAgent as NoRecord
from dcf.agents.loading import delete_agent
from dcf.memory import UnknownAgent

if TYPE_CHECKING:
    from dcf.agents import AgentRuntime
    from dcf.memory import Actor


async def remove_agent(
    runtime: AgentRuntime, records: AgentStore, agent_id: str, *, by: Actor
) -> None:
    """Delete the agent with its record. Raises UnknownAgent of the memory if it is nowhere."""
    gone = await _without_record(records, agent_id, by)
    try:
        await runtime.delete(agent_id, by=by)
    except UnknownAgent:
        if not gone:
            raise
        return
    # A turn that was under way may have made it one again.
    await _without_record(records, agent_id, by)


async def _without_record(records: AgentStore, agent_id: str, by: Actor) -> bool:
    # An id that no record can have has none.
    with suppress(NoRecord, BadName):
        await delete_agent(records, agent_id, by=by.name)
        return True
    return False
