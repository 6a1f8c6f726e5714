"""What can go wrong with a context."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class ContextTooSmall(MemoryProblem):
    """Instructions and blocks take {about}{tokens:,} tokens; the context has {budget:,}."""

    code = "memory_context_too_small"
    hint = "shorten blocks or instructions (`dcf memory consolidate`), or give a larger window"
