"""``dcf watch``."""

from __future__ import annotations

import asyncio
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.exits import FAILED, INTERRUPTED
from dcf.cli.follow import follow, only_watch
from dcf.cli.left_alone import left_alone
from dcf.cli.outcome import finish
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings


async def watch_run(
    workflow_id: str, runs: Path, timeout_s: float | None, settings: Settings, screen: Screen
) -> Answer:
    """Watch a run that others work on."""
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        run = await store.run(workflow_id)
    async with open_store(address, pool=run.pool) as store:
        try:
            async with asyncio.timeout(timeout_s):
                await follow(store, workflow_id, screen, only_watch)
        except TimeoutError:
            message = f"{workflow_id} is not over after {timeout_s or 0:g} s"
            return await left_alone(store, workflow_id, message, FAILED)
        except asyncio.CancelledError:
            message = f"stopped watching {workflow_id}"
            return await left_alone(store, workflow_id, message, INTERRUPTED)
        return await finish(store, workflow_id, runs, settings.objects)
