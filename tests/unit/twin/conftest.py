"""A twin and a real server side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis
from twin_pair import Pair, Wire

from control_plane.twin import Twin

MOMENT_US = 1_700_000_000_123_456


@pytest.fixture
def twin() -> Twin:
    """A twin at one fixed moment, for tests that need no server."""
    return Twin(lambda: MOMENT_US)


@pytest.fixture(scope="session")
def wire(redis_server: str) -> Iterator[Wire]:
    """A connection that gives replies as the server sent them."""
    with Redis.from_url(redis_server, decode_responses=True, protocol=2) as client:
        yield Wire(client)


@pytest.fixture
def pair(wire: Wire) -> Pair:
    """An empty twin and an empty server."""
    return Pair(wire)
