"""A measurement goes on where it was ended, and keeps what still stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mutants import files, measuring
from benchmarks.mutants.report import compare, report

SOURCE = "def double(n):\n    return n * 2\n"
TEST = "tests/unit/test_double.py"


class _Map:
    def __init__(self, data: Path) -> None:
        pass

    def seconds(self, test: str) -> float | None:
        return 0.1

    def tests(self, file: str) -> dict[int, list[str]]:
        return {2: [f"{TEST}::test_double"]}


class _Trial:
    """Notices what is tried, and is ended before number ``last``."""

    last = 99
    tried: Sequence[str] = ()

    def __init__(self, copy: Path, seconds: object, budget_s: float) -> None:
        pass

    def attempt(self, file: str, changed: str, tests: Sequence[str]) -> dict[str, Any]:
        if len(_Trial.tried) == _Trial.last:
            raise KeyboardInterrupt
        _Trial.tried = [*_Trial.tried, changed]
        return {"status": "noticed", "by": tests[0], "how": "failed", "ran": 1}


@contextmanager
def _no_copy(root: Path) -> Iterator[Path]:
    yield root


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A product of one module with one test, and four mutants that are picked."""
    for name, text in (("dcf/double.py", SOURCE), (TEST, "def test_double(): ...\n")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    for module in (files, measuring):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(measuring, "LineMap", _Map)
    monkeypatch.setattr(measuring, "Trial", _Trial)
    monkeypatch.setattr(measuring, "copy_of_tree", _no_copy)
    monkeypatch.setattr(measuring, "_git", lambda *_: "c0ffee")
    monkeypatch.setattr(_Trial, "last", 99)
    monkeypatch.setattr(_Trial, "tried", ())
    old = "    return n * 2"
    mutants = [
        {"id": n, "file": "dcf/double.py", "line": 2, "kind": "constant", "old": old, "new": new}
        for n, new in enumerate(f"    return n * {n + 3}" for n in range(4))
    ]
    (tmp_path / "data").mkdir()
    (tmp_path / "data/picks.json").write_text(json.dumps({"mutants": mutants}))
    return tmp_path


def test_what_is_done_is_not_done_again_also_after_half_a_line(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Trial, "last", 2)
    with pytest.raises(KeyboardInterrupt):
        measuring.run(tree / "data", (1, 1), 10)
    with (tree / "data/results.1of1.jsonl").open("a") as results:
        results.write('{"id": 2, "sta')
    monkeypatch.setattr(_Trial, "last", 99)
    measuring.run(tree / "data", (1, 1), 10)
    assert _Trial.tried == [SOURCE.replace("2", str(n)) for n in (3, 4, 5, 6)]
    assert report(tree / "data")["statuses"] == {"noticed": 4}


def test_shards_take_each_mutant_once(tree: Path) -> None:
    measuring.run(tree / "data", (1, 3), 10)
    assert len(_Trial.tried) == 2
    for shard in (2, 3):
        measuring.run(tree / "data", (shard, 3), 10)
    assert len(_Trial.tried) == len(set(_Trial.tried)) == 4


def test_another_source_is_refused(tree: Path) -> None:
    measuring.run(tree / "data", (1, 1), 10)
    (tree / "dcf/double.py").write_text("# moved\n" + SOURCE)
    with pytest.raises(SystemExit, match="take another folder"):
        measuring.run(tree / "data", (1, 1), 10)


@pytest.mark.parametrize(
    ("changed", "text", "again", "status"),
    [
        (None, "", 0, "noticed"),
        (TEST, "def test_double(): pass\n", 4, "noticed"),
        ("tests/conftest.py", "", 4, "noticed"),
        ("dcf/double.py", "\n\n\n" + SOURCE, 4, "noticed"),
        ("dcf/double.py", SOURCE.replace("2", "4"), 0, "gone"),
    ],
)
def test_only_what_may_have_changed_is_tried_again(
    tree: Path, changed: str | None, text: str, again: int, status: str
) -> None:
    measuring.run(tree / "data", (1, 1), 10)
    before = report(tree / "data")
    (tree / "before.json").write_text(json.dumps(before))
    if changed is not None:
        (tree / changed).write_text(text)
    _Trial.tried = ()
    measuring.recheck(tree / "after", tree / "before.json", (1, 1), 10)
    after = report(tree / "after")
    assert len(_Trial.tried) == again
    assert after["statuses"] == {status: 4}
    assert compare(before, after) == (status == "noticed")


def test_less_that_is_noticed_is_seen(tree: Path) -> None:
    measuring.run(tree / "data", (1, 1), 10)
    before = report(tree / "data")
    after = json.loads(json.dumps(before))
    after["mutants"][1]["status"] = "survived"
    assert not compare(before, after)
    assert compare(after, before)


def test_what_is_tried_no_more_proves_nothing(tree: Path) -> None:
    measuring.run(tree / "data", (1, 1), 10)
    before = report(tree / "data")
    assert not compare(before, {**before, "mutants": before["mutants"][:2]})
    assert not compare({**before, "mutants": []}, {**before, "mutants": []})
