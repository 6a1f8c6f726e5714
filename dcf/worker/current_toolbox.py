"""Connections to the tool servers of the registry and the policy that hold now."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from dcf.tools import Policy, Registry, Toolbox

_CLOSE_OLD_S = 60.0


class CurrentToolbox:
    """A toolbox, and another one when registry or egress rules are others.

    The one before is closed a minute later, so that calls under way come to their end, and not
    while somebody is within ``kept``.
    """

    def __init__(self) -> None:
        self._now: tuple[Registry, Policy, Toolbox] | None = None
        self._kept: Counter[Toolbox] = Counter()
        self._left = asyncio.Event()
        self._closing: dict[asyncio.Task[None], Toolbox] = {}

    def of(self, registry: Registry, policy: Policy) -> Toolbox:
        """The toolbox for these servers where ``policy`` lets connections lead."""
        now = self._now
        if now is not None and now[0] == registry and now[1].egress == policy.egress:
            return now[2]
        if now is not None:
            task = asyncio.create_task(self._close_later(now[2]))
            self._closing[task] = now[2]
            task.add_done_callback(lambda ended: self._closing.pop(ended, None))
        toolbox = Toolbox(registry, egress=policy.egress)
        self._now = registry, policy, toolbox
        return toolbox

    @contextmanager
    def kept(self, toolbox: Toolbox) -> Iterator[Toolbox]:
        """``toolbox`` stays open in the block, however long that takes."""
        self._kept[toolbox] += 1
        try:
            yield toolbox
        finally:
            self._kept[toolbox] -= 1
            if not self._kept[toolbox]:
                del self._kept[toolbox]
                self._left.set()

    async def close(self) -> None:
        """Close all connections, at once."""
        closing = dict(self._closing)
        for task in closing:
            task.cancel()
        for toolbox in closing.values():
            await toolbox.close()
        if self._now is not None:
            await self._now[2].close()

    async def _close_later(self, toolbox: Toolbox) -> None:
        await asyncio.sleep(_CLOSE_OLD_S)
        while toolbox in self._kept:
            self._left.clear()
            await self._left.wait()
        await toolbox.close()
