"""Scripts that travel together: none is left behind."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from redis.asyncio import Redis

from control_plane.batching import BatchedScripts
from control_plane.script import Script

SCRIPT = cast(Script, None)


class Held(BatchedScripts):
    """Batches that are on the way until they are let land."""

    def __init__(self) -> None:
        super().__init__(cast("Redis", None))
        self.on_the_way: list[asyncio.Future[None]] = []
        self.sizes: list[int] = []

    async def _send(self, batch: list[Any]) -> list[Any]:
        self.sizes.append(len(batch))
        landing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_the_way.append(landing)
        await landing
        return ["done"] * len(batch)

    def call(self, times: int = 1) -> asyncio.Task[Any]:
        async def calling() -> Any:
            reply = None
            for _ in range(times):
                reply = await self.run(SCRIPT, (), ())
            return reply

        return asyncio.create_task(calling())


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_call_made_while_two_batches_land_in_one_turn_is_sent():
    scripts = Held()
    first = scripts.call(times=2)
    await turns()
    second = scripts.call()
    await turns()
    assert len(scripts.on_the_way) == 2
    for landing in scripts.on_the_way:
        landing.set_result(None)
    await turns()
    assert len(scripts.on_the_way) == 3
    scripts.on_the_way[2].set_result(None)
    assert await asyncio.wait_for(asyncio.gather(first, second), 5) == ["done", "done"]


async def test_what_its_caller_gave_up_while_it_waited_is_not_sent():
    scripts = Held()
    under_way = [scripts.call()]
    await turns()
    under_way.append(scripts.call())
    await turns()
    given_up, kept = scripts.call(), scripts.call()
    await turns()
    given_up.cancel()
    await turns()
    for landing in scripts.on_the_way[:2]:
        landing.set_result(None)
    await turns()
    assert scripts.sizes == [1, 1, 1]
    scripts.on_the_way[2].set_result(None)
    assert await asyncio.wait_for(kept, 5) == "done"
