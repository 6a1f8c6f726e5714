"""Work that goes on beside other work, and not longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from dcf.stopping import stop


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """``work`` is under way as long as the block lasts. It is cancelled then, and has ended, with
    what it does at its end, before what it works with is closed."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        await stop(task)
