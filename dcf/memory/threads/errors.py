"""What can go wrong with threads."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class UnknownThread(MemoryProblem):
    """There is no thread {thread}."""

    code = "memory_unknown_thread"
    hint = "a thread is called by its id or by the id that its source gives it"


class UnknownTurn(MemoryProblem):
    """Thread {thread} has no turn {number}: it has {turns}."""

    code = "memory_unknown_turn"
