"""What a waiting run costs in memory, on a real server."""

from __future__ import annotations

from flows import linear, seed
from redis.asyncio import Redis
from worlds import RedisWorld

STATES = 10_000
LIMIT_BYTES = 100 * 1024 * 1024


async def used(url: str) -> int:
    """Bytes the server has allocated."""
    async with Redis.from_url(url) as client:
        return int((await client.info("memory"))["used_memory"])


async def test_ten_thousand_pending_states_take_less_than_100_mib(redis_url: str) -> None:
    world = RedisWorld(redis_url)
    await world.open()
    before = await used(redis_url)
    await seed(world.store(), linear(*(f"State{number:05}" for number in range(STATES))))
    taken = await used(redis_url) - before
    assert len(await world.store().paths("run-1")) == STATES
    assert taken < LIMIT_BYTES, f"{taken / 2**20:.1f} MiB"
    print(f"{taken / 2**20:.1f} MiB")
    await world.close()
