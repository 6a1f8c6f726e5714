"""`make soak` goes on where it ended: what has passed with the same inputs is not run again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import campaigns
import pytest
from campaigns import Results
from hypothesis import settings

pytest_plugins = ["pytester"]

FILE = """
import pytest
from pathlib import Path

def ran(name):
    with open("ran", "a") as file: file.write(name + " ")

@pytest.mark.soak("lock.txt")
def test_lock(): ran("lock")

@pytest.mark.soak("code")
def test_code():
    ran("code")
    assert Path("code/a.py").read_text() == "good"

@pytest.mark.soak("lock.txt")
def test_other(): pytest.skip("no Python 3.99 here")

def test_fast(): ran("fast")
"""


class Clone:
    """A repository with one file of tests."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.path
        for name, text in {
            "pytest.ini": "[pytest]\nasyncio_default_fixture_loop_scope = function\n",
            ".gitignore": "ran\n__pycache__\n",
            "lock.txt": "1",
            "code/a.py": "bad",
            "tests/soak/test_it.py": FILE,
        }.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "m")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def soak(self, *arguments: str, code: int = 0) -> set[str]:
        """The names of the tests that were run."""
        (self.folder / "ran").write_text("")
        done = self.pytester.inline_run("-p", "no:cacheprovider", *arguments, plugins=[campaigns])
        assert done.ret == code
        return set((self.folder / "ran").read_text().split())

    def results(self) -> dict[str, Any]:
        known = Results(self.folder).all()
        return {name.rpartition("::")[2]: one for name, one in known.items()}


@pytest.fixture
def clone(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clone]:
    monkeypatch.setattr(campaigns, "SOAK", True)
    profile = settings.get_current_profile_name()
    yield Clone(pytester)
    settings.load_profile(profile)


def test_only_what_changed_failed_or_was_not_tried_is_run_again(clone: Clone) -> None:
    assert clone.soak(code=1) == {"lock", "code"}
    results = clone.results()
    assert {name: one["verdict"] for name, one in results.items()} == {
        "test_lock": "passed",
        "test_code": "failed",
        "test_other": "not tried",
    }
    assert results["test_other"]["why"] == "Skipped: no Python 3.99 here"
    assert set(results["test_lock"]) == {"date", "commit", "inputs", "verdict", "seconds"}
    assert not results["test_lock"]["commit"].endswith("+")

    assert clone.soak(code=1) == {"code"}
    (clone.folder / "code/a.py").write_text("good")
    assert clone.soak() == {"code"}
    assert clone.results()["test_code"]["verdict"] == "passed"
    assert clone.results()["test_code"]["commit"].endswith("+"), "what ran is not committed"
    assert clone.results()["test_lock"] == results["test_lock"]

    assert clone.soak() == set()
    # A file that git does not know yet is one that the test may find.
    (clone.folder / "code/b.py").write_text("new")
    assert clone.soak() == {"code"}
    (clone.folder / "lock.txt").write_text("2")
    assert clone.soak() == {"lock"}


def test_shards_share_the_items(clone: Clone) -> None:
    assert clone.soak("--shard", "1/2") == {"lock"}
    assert clone.soak("--shard", "2/2", code=1) == {"code"}
    assert clone.soak(code=1) == {"code"}
    assert set(clone.results()) == {"test_lock", "test_code", "test_other"}


def test_elsewhere_nothing_of_it_runs(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaigns, "SOAK", False)
    assert clone.soak() == set()
    assert clone.results() == {}
