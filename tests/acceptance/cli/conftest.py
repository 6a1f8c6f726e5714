"""The command line as a user has it, gone without a trace after each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dcf_user import Dcf
from home_end import end_home
from memory_user import MemoryUser


@pytest.fixture
def dcf(short_dir: Path) -> Iterator[Dcf]:
    """A user at the command line; whatever was started is gone after the test."""
    user = Dcf(short_dir)
    yield user
    for child in user.children:
        if child.poll() is None:
            child.kill()
        child.communicate()
    end_home(user.env)


@pytest.fixture
def memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[MemoryUser]:
    """A user of ``dcf memory`` without anything yet."""
    user = MemoryUser(tmp_path, monkeypatch, capsys)
    yield user
    for child in user.children:
        if child.poll() is None:
            child.kill()
        child.communicate()


@pytest.fixture
def ada(memory: MemoryUser) -> MemoryUser:
    """The same, with an agent ``ada``."""
    memory.ok("init", "ada")
    return memory
