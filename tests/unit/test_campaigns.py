"""`make soak` goes on where it ended: what has passed with the same inputs is not run again."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
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

@pytest.mark.soak("lock.txt", product=("product",))
def test_product(): ran("product")

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
    assert clone.soak(code=1) == {"lock", "code", "product"}
    results = clone.results()
    assert {name: one["verdict"] for name, one in results.items()} == {
        "test_lock": "passed",
        "test_code": "failed",
        "test_product": "passed",
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
    assert clone.soak() == {"lock", "product"}


def test_a_landing_asks_only_whether_the_installation_changed(clone: Clone) -> None:
    (clone.folder / "code/a.py").write_text("good")
    assert clone.soak() == {"lock", "code", "product"}
    (clone.folder / "product").write_text("2")
    assert clone.soak("--installation") == set()
    assert clone.soak() == {"product"}
    (clone.folder / "lock.txt").write_text("2")
    assert clone.soak("--installation") == {"lock", "product"}


def test_shards_share_the_items(clone: Clone) -> None:
    assert clone.soak("--shard", "1/2") == {"lock", "product"}
    assert clone.soak("--shard", "2/2", code=1) == {"code"}
    assert clone.soak(code=1) == {"code"}
    assert set(clone.results()) == {"test_lock", "test_code", "test_product", "test_other"}


@pytest.mark.parametrize("shard", ["0/4", "5/4", "1", "a/b", "1/0"])
def test_a_shard_that_there_is_not_is_refused(clone: Clone, shard: str) -> None:
    assert clone.soak("--shard", shard, code=pytest.ExitCode.USAGE_ERROR) == set()


def test_results_are_whole_where_a_process_is_killed(clone: Clone) -> None:
    clone.soak(code=1)
    before = clone.results()
    Path(f"{Results(clone.folder).path}.new").write_text('{"half')
    assert clone.results() == before
    assert clone.soak(code=1) == {"code"}


def test_elsewhere_nothing_of_it_runs(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaigns, "SOAK", False)
    assert clone.soak() == set()
    assert clone.results() == {}


SETTLED = """
import pytest

pytestmark = pytest.mark.settled("code")

def test_code():
    with open("ran", "a") as file: file.write("code ")
    assert open("code/a.py").read() == "good"

@pytest.mark.parametrize("name", ["one", "two"])
def test_more(name):
    with open("ran", "a") as file: file.write(name + " ")
"""


def test_what_depends_on_few_files_runs_in_ci_until_it_has_passed_with_them(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "SOAK", False)
    file = clone.folder / "tests/test_settled.py"
    file.write_text(SETTLED)
    monkeypatch.setenv("CI", "true")
    assert clone.soak(str(file), code=1) == {"code", "one", "two"}
    assert clone.results() == {}, "only who is asked to writes results"
    assert clone.soak("--settle", code=1) == {"code", "one", "two"}
    assert clone.results()["tests/test_settled.py"]["verdict"] == "failed"
    (clone.folder / "code/a.py").write_text("good")
    assert clone.soak(str(file), "-k", "more") == {"one", "two"}
    assert clone.soak("--settle") == {"code", "one", "two"}
    assert set(clone.results()) == {"tests/test_settled.py"}
    assert clone.soak("--settle", code=pytest.ExitCode.NO_TESTS_COLLECTED) == set()

    assert clone.soak(str(file)) == set()
    monkeypatch.delenv("CI")
    assert clone.soak(str(file)) == {"code", "one", "two"}, "a developer runs all of them"
    monkeypatch.setenv("CI", "true")
    (clone.folder / "code/b.py").write_text("new")
    assert clone.soak(str(file)) == {"code", "one", "two"}


def test_what_was_not_all_run_is_not_settled(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaigns, "SOAK", False)
    file = clone.folder / "tests/test_settled.py"
    file.write_text(SETTLED)
    clone.soak("--settle", "-x", code=1)
    assert clone.results() == {}
    for part in (["-k", "more"], [f"{file}::test_code"]):
        assert clone.soak("--settle", *part, code=pytest.ExitCode.USAGE_ERROR) == set()


def test_all_suites_can_be_collected_together() -> None:
    """Helpers are imported by their bare names, from the folders of all suites."""
    root = Path(__file__).parents[1]
    helpers = [file for file in root.rglob("*.py") if not file.name.startswith("test_")]
    names = Counter(
        file.name for file in helpers if file.name not in ("conftest.py", "__init__.py")
    )
    assert [name for name, count in names.items() if count > 1] == []
    importing = re.compile(r"^(?:from|import) conftest\b", re.MULTILINE)
    assert [
        str(one) for one in root.rglob("*.py") if importing.search(one.read_text("utf-8"))
    ] == []
