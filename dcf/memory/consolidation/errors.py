"""What can go wrong with consolidations."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class ConsolidationRunning(MemoryProblem):
    """Agent {agent_id} is being consolidated by {session_id}; that has {seconds:,} s left."""

    code = "memory_consolidation_running"
    hint = "wait for it; if its process was killed, the agent is free when that time is over"


class ConsolidationLost(MemoryProblem):
    """The consolidation of agent {agent_id} took longer than it may; nothing was changed."""

    code = "memory_consolidation_lost"
    hint = "give it more time (claim_ms), or a smaller token budget"


class UnknownConsolidation(MemoryProblem):
    """There is no consolidation {session_id}."""

    code = "memory_unknown_consolidation"
    hint = "`dcf memory consolidate --history` lists them; one that changed nothing is not kept"
