"""The fixture that every other test with a real Redis stands on."""

from __future__ import annotations

from redis.asyncio import Redis


async def test_redis_has_json(redis_client: Redis) -> None:
    await redis_client.json().set("document", "$", {"a": [1, 2]})
    assert await redis_client.json().get("document", "$.a[1]") == [2]


async def test_every_test_begins_with_an_empty_redis(redis_client: Redis) -> None:
    assert await redis_client.dbsize() == 0
    await redis_client.set("left", "behind")


async def test_nothing_of_the_test_before_is_left(redis_client: Redis) -> None:
    assert await redis_client.get("left") is None
