"""What can go wrong with passages."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class UnknownPassage(MemoryProblem):
    """There is no passage {passage_id}."""

    code = "memory_unknown_passage"
    hint = "it may have been deleted; `dcf memory history` says when and by whom"
