"""A turn as it happens, whichever runtime takes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from dcf.agents.performer import Observer
from dcf.agents.reply import Reply
from dcf.agents.turn_event import TurnEvent


async def streamed(
    take: Callable[[Observer], Coroutine[Any, Any, Reply]],
) -> AsyncIterator[TurnEvent]:
    """What the turn that ``take`` takes tells its observer, and at last its reply. Who stops
    listening ends the turn; its error is raised here."""
    told: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
    turn = asyncio.create_task(take(told.put_nowait))
    turn.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (event := await told.get()) is not None:
            yield event
        reply = await turn
        yield TurnEvent("reply", reply.usage.duration_ms, reply=reply)
    finally:
        turn.cancel()
        await asyncio.wait([turn])
