"""What a consolidation can do."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Strategy: TypeAlias = Literal["merge", "summarize", "archive", "compress"]
"""``merge`` removes what is said twice, ``summarize`` shortens blocks over their target,
``archive`` puts a summary in the place of old messages, ``compress`` packs old history."""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
"""In the order in which they are applied: what is said twice need not be summarised."""
