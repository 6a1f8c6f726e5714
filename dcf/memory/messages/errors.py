"""What can go wrong with messages."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class UnknownMessage(MemoryProblem):
    """Agent {agent_id} has no message {seq}."""

    code = "memory_unknown_message"
    hint = "messages are numbered from 1; list them to see which there are"
