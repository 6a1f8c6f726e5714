"""Which agent a state of a run is assigned to: who else asks for it is told so.

Whoever holds a lease may write, assigned or not; this only says for whom a state is meant.
"""

from __future__ import annotations

from collections.abc import Mapping

from control_plane.reader import Reader


async def assign(reader: Reader, workflow_id: str, agents: Mapping[str, str]) -> None:
    """Assign states (by name) of a run to agents. Raises UnknownRun."""
    run = await reader.run(workflow_id)
    pairs = [part for state in agents for part in (state, agents[state])]
    if pairs:
        await reader.backend.command("HSET", reader.keys(run.workflow_id).agents, *pairs)


async def assigned(reader: Reader, workflow_id: str) -> dict[str, str]:
    """state -> agent, of those that are assigned."""
    flat = await reader.backend.command("HGETALL", reader.keys(workflow_id).agents)
    if isinstance(flat, dict):
        return flat
    return dict(zip(flat[::2], flat[1::2], strict=True))
