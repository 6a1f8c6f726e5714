"""A Redis that refuses, for the tests of what workers and commands make of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from refusing_server import RefusingServer, refusing_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RefusingServer]:
    with refusing_server(tmp_path_factory.mktemp("refusing")) as started:
        yield started


@pytest.fixture
def redis(server: RefusingServer) -> RefusingServer:
    """The server, empty."""
    server.admin.flushall()
    return server
