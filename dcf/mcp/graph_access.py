"""The graph as the tools of a server open it: with what waited written first, as far as that does
not take too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from control_plane import Outbox
from dcf.knowledge import GraphSetting, Knowledge, drain

if TYPE_CHECKING:
    from dcf.mcp.platform import Platform

WRITING_S = 30.0
"""A call of a tool writes for so long; what is left is written by the next one, or by a worker."""


@asynccontextmanager
async def open_graph(
    platform: Platform, *, writing_s: float | None = WRITING_S
) -> AsyncIterator[tuple[Knowledge, int]]:
    """The graph of the server's settings, whose embedded server is started if need be, and how many
    entries of the outbox still wait. Nothing is written first where ``writing_s`` is None. Raises
    KnowledgeError, ControlPlaneError."""
    env = platform.config.env
    async with Knowledge.open(GraphSetting.from_env(env)) as knowledge:
        is_done = writing_s is not None and await _written(knowledge, platform, writing_s)
        waiting = 0 if is_done else (await Outbox(platform.backend).lag()).waiting
        yield knowledge, waiting


async def _written(knowledge: Knowledge, platform: Platform, writing_s: float) -> bool:
    """Write what waits; whether all of it was written in time."""
    try:
        async with asyncio.timeout(writing_s) as limit:
            await drain(knowledge, platform.store, platform.config.env)
    except TimeoutError:
        if not limit.expired():
            raise
        return False
    return True
