"""What can go wrong with agents."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.errors import MemoryProblem


class UnknownAgent(MemoryProblem):
    """There is no agent {agent!r}.{near}"""

    code = "memory_unknown_agent"
    hint = "`dcf memory agents` lists them"

    def __init__(self, agent: str, closest: Sequence[str] = ()) -> None:
        self.closest = tuple(closest)
        near = f" Close to it: {', '.join(closest)}." if closest else ""
        super().__init__(agent=agent, near=near)


class AgentExists(MemoryProblem):
    """There is an agent {name!r} already."""

    code = "memory_agent_exists"
    hint = "choose another name, or use that agent"
