"""Writing in as many portions as the graph's server needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from dcf.knowledge.errors import GraphSlow

BATCH = 100
"""So many things are written in one transaction at most: while it runs, nobody reads the graph.
After one that took too long they are half as many, then ever more again."""
_Item = TypeVar("_Item")


class Portions:
    """The size of portions, as it turns out to be well."""

    def __init__(self) -> None:
        self._size = BATCH

    async def write(
        self, write: Callable[[Sequence[_Item]], Awaitable[None]], items: Sequence[_Item]
    ) -> None:
        """Write ``items`` in as many parts as are needed. Raises GraphSlow for one alone."""
        at = 0
        while at < len(items):
            part = items[at : at + self._size]
            try:
                await write(part)
            except GraphSlow:
                if len(part) == 1:
                    raise
                self._size = len(part) // 2
                continue
            at += len(part)
            self._size = min(BATCH, self._size + 1)
