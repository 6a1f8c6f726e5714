"""The contract holds on the twin and on a real server; ``world`` is either."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from checked_documents import check_documents
from redis.asyncio import Redis
from worlds import RedisWorld, TwinWorld, World


@pytest.fixture(params=["twin", "redis"])
def backend_url(request: pytest.FixtureRequest) -> str | None:
    """The URL of a real server, or None for the twin."""
    # Asked for here, outside of any event loop, since the server is started with one of its own.
    return request.getfixturevalue("redis_server") if request.param == "redis" else None


async def open_world(url: str | None) -> World:
    """An empty control plane on the server at ``url``, or on a twin."""
    if url is None:
        return TwinWorld()
    async with Redis.from_url(url) as client:
        await client.flushall()
        # A blocking read ends at the next tick of the server's own timer, ten a second by default.
        await client.config_set("hz", 500)
    world = RedisWorld(url)
    await world.open()
    return world


@pytest.fixture
async def world(backend_url: str | None) -> AsyncIterator[World]:
    """A control plane. After the test every document in it must fit its schema."""
    created = await open_world(backend_url)
    yield created
    check_documents(await created.dump())
    await created.close()


@pytest.fixture
async def both_worlds(redis_server: str) -> AsyncIterator[tuple[World, World]]:
    """A twin and a real server, both empty, at the same moment."""
    worlds = await open_world(None), await open_world(redis_server)
    yield worlds
    for created in worlds:
        check_documents(await created.dump())
        await created.close()
