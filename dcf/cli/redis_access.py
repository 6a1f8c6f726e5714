"""From the settings to an open store, with Redis started if it is the embedded one."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from control_plane import Backend, RedisBackend, Store
from control_plane.embedded import Address, Embedded, LoadProgress, resolve
from dcf.cli.interrupt import heed_interrupt
from dcf.cli.patience import Patience, PatientBackend, wait_s
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings, graph_mode

_SILENCE_S = 3.0


async def find_redis_soon(settings: Settings, screen: Screen) -> Address:
    """``find_redis`` for who asks why nothing moves: one that runs and is silent is an error within
    seconds. Raises ServerUnusable."""
    if settings.redis_url is None:
        await Embedded.from_env(settings.env, patience_s=_SILENCE_S).demand_answer()
    return await find_redis(settings, screen)


async def find_redis(
    settings: Settings, screen: Screen, patience: Patience | None = None
) -> Address:
    """The Redis to use, ready; concerns about it are shown. One that refuses for a while is waited
    for, with ``patience`` or for ``DCF_REDIS_WAIT``. Raises ServerUnusable."""
    patient = patience or Patience(screen.warn, wait_s(settings.env))
    with screen.working("Redis …") as progress:

        def loading(load: LoadProgress) -> None:
            progress.tell(f"Redis loads its data: {load.share:.0%}, {load.eta_seconds} s to go")

        address = await patient.until_served(lambda: resolve(settings.env, loading))
    heed_interrupt()
    for concern in address.concerns:
        screen.warn(f"Redis {address.label}: {concern.name} is {concern.found} ({concern.hint})")
    return address


@asynccontextmanager
async def open_store(
    address: Address, *, pool: str = "default", patient: bool = True
) -> AsyncIterator[Store]:
    """A store on ``address``, closed after the block. Its calls wait for a Redis that refuses for a
    while, as ``find_redis`` does, unless they are not ``patient``."""
    backend: Backend = RedisBackend.from_url(address.url)
    if patient:
        # As with --json: messages on the way go to stderr.
        waiting = Patience(lambda line: Screen(as_json=True).warn(line), wait_s(os.environ))
        backend = PatientBackend(backend, waiting)
    try:
        yield Store(backend, pool=pool, outbox=graph_mode(os.environ) != "off")
    finally:
        await backend.close()
