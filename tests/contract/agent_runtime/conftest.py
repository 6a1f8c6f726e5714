"""The runtime under contract: the local one. A second one joins as a parameter of ``world``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from local_world import local_world
from runtime_world import RuntimeWorld

from dcf.agents import AgentRuntime
from dcf.memory import Actor


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[RuntimeWorld]:
    async with local_world(tmp_path) as opened:
        yield opened


@pytest.fixture
def runtime(world: RuntimeWorld) -> AgentRuntime:
    return world.runtime


@pytest.fixture
def by() -> Actor:
    return Actor("user", "ada")
