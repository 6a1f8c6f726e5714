"""Which pool a run goes into: only workers with the same generated skills may take its states."""

from __future__ import annotations

import re
import secrets

from control_plane import Store, keys
from dcf.cli.crew import Garrison
from dcf.cli.settings import Settings
from dcf.workflow import live_workers

DEFAULT_POOL = "default"
_PRIVATE = re.compile(r"run-[0-9a-f]{8}")


async def choose_pool(store: Store, garrison: Garrison, settings: Settings) -> str:
    """The default pool if workers with our skills read it, and none with others; else a pool that
    nobody reads yet."""
    strangers = garrison.strangers(DEFAULT_POOL, settings.generated)
    if not strangers and await live_workers(store, DEFAULT_POOL):
        return DEFAULT_POOL
    return f"run-{secrets.token_hex(4)}"


async def dissolve(store: Store, pool: str) -> None:
    """Remove the queue of a pool that was made for one run, which is over."""
    if _PRIVATE.fullmatch(pool):
        await store.backend.command("DEL", keys.queue(pool))


def pool_option(pool: str) -> str:
    """What a command line needs to mean ``pool``; nothing for the default one."""
    return "" if pool == DEFAULT_POOL else f" --pool {pool}"
