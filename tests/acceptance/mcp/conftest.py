"""The platform as MCP clients have it: processes of its own, gone after each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from home_end import end_home
from mcp_site import Site


@pytest.fixture
def site(short_dir: Path) -> Iterator[Site]:
    """Redis and the stub run; whatever was started is gone after the test."""
    user = Site(short_dir)
    assert user("up").code == 0
    yield user
    for child in user.children:
        if child.poll() is None:
            child.kill()
        child.communicate()
    end_home(user.env)
