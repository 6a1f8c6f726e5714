"""Answers of tools that would take too much of a window."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dcf.agents.assignment import JSON
from dcf.memory import NewPassage
from dcf.search import count_tokens

if TYPE_CHECKING:
    from dcf.memory import Actor, Memory

_LONGEST_PIECE = 64
"""Characters of the longest piece that counts as one token."""


async def shortened(
    memory: Memory, agent_id: str, tool: str, content: JSON, tokens: int, *, by: Actor
) -> JSON:
    """``content``, or its beginning in at most about ``tokens`` tokens: then all of it is put into
    the agent's archive, and the beginning says where."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if len(text) <= tokens or (
        len(text) <= tokens * _LONGEST_PIECE and count_tokens(text) <= tokens
    ):
        return content
    new = NewPassage(text, tags=("tool-answer", tool), source=by.reason)
    (passage,) = await memory.passages.insert(agent_id, new, by=by)
    return {
        "beginning": _beginning(text, tokens),
        "note": f"All {len(text):,} characters are in your archive as {passage.id}; "
        "archival_memory_search finds it.",
    }


def _beginning(text: str, tokens: int) -> str:
    length = min(len(text), tokens * 4)
    while length > 1 and count_tokens(text[:length]) > tokens:
        length = length * 3 // 4
    return text[:length]
