"""What can go wrong with turns."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class TurnUnderWay(MemoryProblem):
    """Agent {agent_id} is in another turn."""

    code = "memory_turn_under_way"
    hint = "turns of one agent follow each other; try again when that one is over"


class TurnFenced(MemoryProblem):
    """Agent {agent_id} belongs to a later holder than number {number} of {holder}."""

    code = "memory_turn_fenced"
    hint = "whoever holds the lease now goes on; nothing has to be done"


class TurnLost(MemoryProblem):
    """Somebody else went on with agent {agent_id}: turn {turn_id} is over."""

    code = "memory_turn_lost"
    hint = "whoever works with the agent now has its conversation; send the message again"
