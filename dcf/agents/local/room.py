"""How much of an agent's window is left for its context, in tokens by dcf.search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from dcf.search import count_tokens

if TYPE_CHECKING:
    from dcf.memory import ToolSpec

_TOOL_OVERHEAD = 8
_LARGEST_ANSWER = 4096


def room_in(window: int, tools: Sequence[ToolSpec]) -> int:
    """What a window of ``window`` tokens has for orders, blocks and messages, when ``tools`` are
    offered and an eighth is kept for the answer."""
    answer = min(window // 8, _LARGEST_ANSWER)
    return window - answer - sum(map(_tool_tokens, tools))


def _tool_tokens(tool: ToolSpec) -> int:
    return _tokens(tool.name, tool.description, json.dumps(dict(tool.input_schema)))


@lru_cache(maxsize=512)
def _tokens(name: str, description: str, schema: str) -> int:
    return count_tokens(f"{name} {description} {schema}") + _TOOL_OVERHEAD
