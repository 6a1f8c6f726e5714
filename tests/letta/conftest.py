"""Tests on a real Letta server; `make test-letta` brings it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from letta_world import LettaWorld, letta_world

from dcf.memory import Actor


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LettaWorld]:
    if "DCF_TEST_LETTA_URL" not in os.environ:
        pytest.fail("these tests are run by `make test-letta`", pytrace=False)
    async with letta_world(tmp_path) as opened:
        yield opened


@pytest.fixture
def by() -> Actor:
    return Actor("user", "ada")
