"""Answers of tools that would take too much of a window."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from dcf.agents.assignment import JSON
from dcf.search import count_tokens

_LONGEST_PIECE = 64
"""Characters of the longest piece that counts as one token."""


Keep: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Puts a text of a tool into the agent's archive; gives the passage's id."""


async def shortened(content: JSON, tool: str, tokens: int, keep: Keep) -> JSON:
    """``content``, or its beginning in at most about ``tokens`` tokens: then all of it is put into
    the agent's archive, and the beginning says where."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if len(text) <= tokens or (
        len(text) <= tokens * _LONGEST_PIECE and count_tokens(text) <= tokens
    ):
        return content
    passage_id = await keep(text, tool)
    return {
        "beginning": _beginning(text, tokens),
        "note": f"All {len(text):,} characters are in your archive as {passage_id}; "
        "archival_memory_search finds it.",
    }


def _beginning(text: str, tokens: int) -> str:
    length = min(len(text), tokens * 4)
    while length > 1 and count_tokens(text[:length]) > tokens:
        length = length * 3 // 4
    return text[:length]
