"""From the settings to an open store, with Redis started if it is the embedded one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from control_plane import RedisBackend, Store
from control_plane.embedded import Address, LoadProgress, resolve
from dcf.cli.interrupt import heed_interrupt
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings, graph_mode


async def find_redis(settings: Settings, screen: Screen) -> Address:
    """The Redis to use, ready; concerns about it are told. Raises ServerUnusable."""
    with screen.working("Redis …") as progress:

        def loading(load: LoadProgress) -> None:
            progress.tell(f"Redis loads its data: {load.share:.0%}, {load.eta_seconds} s to go")

        address = await resolve(settings.env, loading)
    heed_interrupt()
    for concern in address.concerns:
        screen.warn(f"Redis {address.label}: {concern.name} is {concern.found} ({concern.hint})")
    return address


@asynccontextmanager
async def open_store(address: Address, *, pool: str = "default") -> AsyncIterator[Store]:
    """A store on ``address``, closed after the block."""
    backend = RedisBackend.from_url(address.url)
    try:
        yield Store(backend, pool=pool, outbox=graph_mode(os.environ) != "off")
    finally:
        await backend.close()
