"""One desk for all tests here: what they have in common is what costs time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from home_end import end_home
from support_desk import Desk


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    """Redis, stub tools, a server and a companion host run; all are gone after the last test."""
    prefix = f"dcf-test-{os.getuid()}-d-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir="/tmp") as folder:
        desk = Desk(Path(folder))
        try:
            desk.open()
            yield desk
        finally:
            for child in desk.children:
                if child.poll() is None:
                    child.kill()
                child.communicate()
            end_home(desk.env)
