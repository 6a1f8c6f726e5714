"""The contract holds on the twin and on a real server; ``world`` is either."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from checked_documents import check_documents
from worlds import World, open_world


@pytest.fixture(params=["twin", "redis"])
def backend_url(request: pytest.FixtureRequest) -> str | None:
    """The URL of a real server, or None for the twin."""
    # Asked for here, outside of any event loop, since the server is started with one of its own.
    return request.getfixturevalue("redis_server") if request.param == "redis" else None


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
