"""A run of tests says how far it is, and ends with what repeats each test that failed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from progress import Forecast, Progress, spoken

pytest_plugins = ["pytester"]

TESTS = Path(__file__).parents[1]
MIXED = """
import pytest
from hypothesis import given, settings, strategies as st

def test_passes(): pass

@pytest.mark.parametrize("word", ["it's [so]"])
def test_fails(word): assert word == "other"

@settings(print_blob=True, database=None)
@given(st.integers())
def test_property(number): assert number < 7

@pytest.fixture
def broken(): raise OSError("no room")

def test_needs(broken): pass
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_a_run_ends_with_the_seed_and_the_command_of_what_failed(
    processes: int, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only the plugins that matter here: a process that loads all of them starts slowly.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    pytester.makepyfile(test_mixed=MIXED)
    plugins = ("progress", "_hypothesis_pytestplugin", "xdist", "no:cacheprovider")
    options = [f"-p{plugin}" for plugin in plugins]
    run = pytester.runpytest_subprocess if processes else pytester.runpytest_inprocess
    said = run("-q", "-n", str(processes), *options).stdout.str()
    before, _, after = said.partition(" to repeat what failed ")
    # As soon as it is known.
    assert "\nFAILED test_mixed.py::test_property\n" in "\n" + before
    told = after.splitlines()[1:-1]
    assert told[0].startswith("FAILED test_mixed.py::test_fails[it's [so]] - assert ")
    quoted = """'test_mixed.py::test_fails[it'"'"'s [so]]'"""
    assert told[1] == f"  repeat: {sys.executable} -m pytest {quoted}"
    assert told[2].startswith("FAILED test_mixed.py::test_property - ")
    assert told[3].startswith("  seed: @reproduce_failure('")
    assert told[4] == f"  repeat: {sys.executable} -m pytest test_mixed.py::test_property"
    assert told[5] == "FAILED test_mixed.py::test_needs - OSError: no room"
    assert len(told) == 7
    assert after.splitlines()[-1].startswith("2 failed, 1 passed, 1 error in")
    assert "%]" not in said and "..F" not in said


def test_what_is_left_is_as_slow_as_what_is_done() -> None:
    forecast = Forecast({"tests/unit/a.py": 1.0, "tests/unit/b.py": 5.0})
    forecast.expect(["tests/unit/a.py::x", "tests/unit/a.py::y", "tests/unit/b.py::z"])
    assert forecast.left_s(0) is None
    forecast.done("tests/unit/a.py::x")
    # Of seven seconds one took two.
    assert forecast.left_s(2) == 12
    forecast.done("tests/unit/b.py::z")
    assert forecast.left_s(12) == 2
    forecast.done("tests/unit/a.py::y")
    assert forecast.left_s(14) == 0


def test_a_file_that_is_not_known_is_as_fast_as_its_suite() -> None:
    forecast = Forecast({})
    forecast.expect(["tests/unit/a.py::x", "tests/acceptance/b.py::y"])
    forecast.done("tests/unit/a.py::x")
    left = forecast.left_s(1)
    assert left is not None and left > 10


def test_lines_come_now_and_then_and_what_a_file_takes_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text('{"tests/unit/gone.py": 2.0}')
    said: list[str] = []

    class Reporter:
        isatty = False
        line = staticmethod(said.append)
        flush = staticmethod(lambda: None)

    progress = Progress(Reporter(), kept)  # type: ignore[arg-type]
    tests = [f"tests/unit/a.py::t{number}" for number in range(2_000)]
    progress.pytest_xdist_node_collection_finished(None, tests)
    progress.every_s = 0
    report = pytest.TestReport(tests[0], ("", 0, ""), {}, "passed", None, "teardown", duration=0.5)
    progress.began -= 10
    progress.pytest_runtest_logreport(report)
    assert said == ["unit: 1 of 2,000 tests, 0 failed, about 333 min left"]
    progress.every_s = 15
    report.nodeid = tests[1]
    progress.pytest_runtest_logreport(report)
    assert len(said) == 1
    progress.pytest_sessionfinish()
    assert Forecast(json.loads(kept.read_text())).known == {
        "tests/unit/a.py": 0.5,
        "tests/unit/gone.py": 2.0,
    }


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "0 s"), (89, "89 s"), (150, "2 min")])
def test_time_is_spoken_of_as_people_do(seconds: float, words: str) -> None:
    assert spoken(seconds) == words
