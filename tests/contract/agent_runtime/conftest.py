"""The runtimes under contract: the local one, and agents of a Letta server where there is one to
test with (`make test-letta`)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from letta_world import letta_world
from local_world import local_world
from runtime_world import RuntimeWorld

from dcf.agents import AgentRuntime
from dcf.memory import Actor

WORLDS = {"local": local_world}
if "DCF_TEST_LETTA_URL" in os.environ:
    WORLDS["letta"] = letta_world


@pytest.fixture(params=sorted(WORLDS))
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RuntimeWorld]:
    async with WORLDS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
def runtime(world: RuntimeWorld) -> AgentRuntime:
    return world.runtime


@pytest.fixture
def by() -> Actor:
    return Actor("user", "ada")
