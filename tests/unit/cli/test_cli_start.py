"""A command loads what it uses: libraries that take long are loaded by whoever needs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LIBRARIES = {"numpy", "mcp", "mcp_types", "pydantic_ai", "starlette", "uvicorn", "httpx2"}
AGENTS = {"dcf.agents", "dcf.memory", "dcf.worker"}
SERVING = {"dcf.mcp", "dcf.simulation", "dcf.skill_tests", "dcf.conformance"}


@pytest.mark.parametrize(
    "module",
    [
        "dcf.cli.approvals",
        "dcf.cli.callback",
        "dcf.cli.down",
        "dcf.cli.explain",
        "dcf.cli.run",
        "dcf.cli.runs",
        "dcf.cli.skills",
        "dcf.cli.steer",
        "dcf.cli.submit",
        "dcf.cli.up",
        "dcf.cli.validate",
        "dcf.cli.watch",
    ],
)
def test_a_command_about_runs_loads_neither_agents_nor_servers(module: str) -> None:
    loaded = run(f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))")
    assert set(loaded) & (LIBRARIES | AGENTS | SERVING) == set()


@pytest.mark.parametrize("module", ["dcf.cli.up", "dcf.cli.down"])
def test_services_come_and_go_without_reading_workflows(module: str) -> None:
    loaded = run(f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))")
    assert set(loaded) & {"dcf.workflow", "dcf.asl", "dcf.skills", "jsonschema", "yaml"} == set()


@pytest.mark.parametrize("room", ["dcf.agents", "dcf.memory", "dcf.search", "dcf.worker"])
def test_a_room_is_entered_without_what_only_work_needs(room: str) -> None:
    loaded = run(f"import json, sys, {room}; print(json.dumps(sorted(sys.modules)))")
    assert set(loaded) & LIBRARIES == set()


@pytest.mark.parametrize("words", ["memory init ada", "memory agents", "memory show ada"])
def test_a_memory_is_looked_at_without_computing_vectors(words: str, tmp_path: Path) -> None:
    code, loaded = command("memory", "init", "ada", home=tmp_path)
    if words != "memory init ada":
        code, loaded = command(*words.split(), home=tmp_path)
    assert code == 0
    assert loaded & (LIBRARIES | SERVING | {"dcf.worker", "dcf.workflow", "jsonschema"}) == set()


def test_a_document_is_checked_without_agents(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
    code, loaded = command("validate", str(file), home=tmp_path)
    assert code == 0
    assert loaded & (LIBRARIES | AGENTS | SERVING) == set()


def test_a_vector_that_is_computed_loads_numpy() -> None:
    program = "from dcf.late_numpy import np; print(int(np.int64(2) + np.int64(3)))"
    assert run(program) == 5


def test_a_start_is_not_spent_on_collecting_garbage() -> None:
    program = """
import gc, json
from dcf.cli.entry import main

def collections():
    return sum(one["collections"] for one in gc.get_stats())

before = collections()
try:
    main(["run", "--help"])
finally:
    print(json.dumps(collections() - before))
"""
    assert run(program) <= 2


def command(*arguments: str, home: Path) -> tuple[int, set[str]]:
    """The exit code of a command in a new process, and the modules that it had loaded."""
    program = (
        "import json, sys\n"
        "from dcf.cli.entry import run_command\n"
        f"code = run_command({list(arguments)!r})\n"
        "print(json.dumps([code, sorted(sys.modules)]))"
    )
    code, modules = run(program, home)
    return code, set(modules)


def run(program: str, home: Path | None = None) -> Any:
    """What the last line says that ``program`` prints, in a process with its own home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DCF_")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=kept if home is None else {**kept, "DCF_HOME": str(home / "home")},
        cwd=home,
    )
    return json.loads(done.stdout.splitlines()[-1])
