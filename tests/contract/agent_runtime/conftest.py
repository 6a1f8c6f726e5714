"""The runtimes under contract. Letta's is there when DCF_TEST_LETTA_URL names a server that asks
the scripted model of `letta_world.py`."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from local_world import local_world
from runtime_world import RuntimeWorld

from dcf.agents import AgentRuntime
from dcf.memory import Actor


@pytest.fixture(params=["local", "letta"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RuntimeWorld]:
    if request.param == "local":
        async with local_world(tmp_path) as opened:
            yield opened
        return
    url = os.environ.get("DCF_TEST_LETTA_URL")
    if not url:
        pytest.skip("DCF_TEST_LETTA_URL is not set: `make test-letta` starts a Letta server")
    from letta_world import letta_world

    async with letta_world(url) as letta:
        yield letta


@pytest.fixture
def runtime(world: RuntimeWorld) -> AgentRuntime:
    return world.runtime


@pytest.fixture
def by() -> Actor:
    return Actor("user", "ada")
