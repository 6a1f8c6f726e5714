"""The graph, opened for a command with everything in it that waited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from control_plane import OutboxLag
from control_plane.embedded import LoadProgress
from dcf.cli.interrupt import heed_interrupt
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.knowledge import Drained, GraphSetting, Knowledge, drain


@asynccontextmanager
async def open_graph(
    settings: Settings, screen: Screen, *, everything: bool = False
) -> AsyncIterator[tuple[Knowledge, Drained]]:
    """The graph of ``settings``, started if it is the embedded one, and what was written first;
    ``everything`` as in ``drain``. Raises KnowledgeError, ServerUnusable, ControlPlaneError."""
    setting = GraphSetting.from_env(settings.env)
    with screen.working("the graph …") as shown:

        def loading(load: LoadProgress) -> None:
            shown.tell(f"the graph loads its data: {load.share:.0%}, {load.eta_seconds} s to go")

        def written(done: Drained, lag: OutboxLag) -> None:
            shown.tell(f"writing: {done.runs:,} runs, {lag.waiting:,} to go")

        async with Knowledge.open(setting, on_progress=loading) as knowledge:
            heed_interrupt()
            address = await find_redis(settings, screen)
            async with open_store(address) as store:
                done = await drain(
                    knowledge, store, settings.env, everything=everything, progress=written
                )
            if done.refused:
                screen.warn(
                    f"{done.refused} could not be written; they stand in cp:{{outbox}}:refused"
                )
            yield knowledge, done
