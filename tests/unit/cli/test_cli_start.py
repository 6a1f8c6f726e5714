"""A command loads what it uses: libraries that take long are loaded by whoever needs them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.forking import Forks, forks

LIBRARIES = {"numpy", "mcp", "mcp_types", "pydantic_ai", "starlette", "uvicorn", "httpx2"}
AGENTS = {"dcf.agents.local", "dcf.memory.memory", "dcf.worker.worker"}
SERVING = {"dcf.mcp.serve", "dcf.simulation.simulation", "dcf.skill_tests.run"}
LANGUAGES = {"jsonschema", "yaml", "regex", "jsonpath", "dcf.asl.definition", "dcf.skills.catalog"}


@pytest.fixture(scope="module")
def processes() -> Iterator[Forks]:
    with forks() as found:
        yield found


@pytest.mark.parametrize(
    "module",
    [
        "approvals",
        "callback",
        "down",
        "explain",
        "runs",
        "steer",
        "submit",
        "up",
        "validate",
        "watch",
    ],
)
def test_a_command_about_runs_loads_neither_agents_nor_servers(
    module: str, processes: Forks, tmp_path: Path
) -> None:
    loaded = processes.modules(f"import dcf.cli.{module}", tmp_path)
    assert loaded & (LIBRARIES | AGENTS | SERVING) == set()


@pytest.mark.parametrize("module", ["down", "runs", "up"])
def test_what_only_looks_reads_no_language(module: str, processes: Forks, tmp_path: Path) -> None:
    loaded = processes.modules(f"import dcf.cli.{module}", tmp_path)
    assert loaded & LANGUAGES == set()


def test_entering_a_room_loads_none_of_it(processes: Forks, tmp_path: Path) -> None:
    rooms = {
        f"dcf.{init.parent.name}"
        for init in Path(__file__).parents[3].joinpath("dcf").glob("*/__init__.py")
    } - {"dcf.cli"}
    assert len(rooms) > 20

    loaded = processes.modules(f"import {', '.join(sorted(rooms))}", tmp_path)

    ours = {name for name in loaded if name.split(".")[0] in ("dcf", "control_plane")}
    assert ours == rooms | {"dcf", "control_plane", "control_plane.late_exports"}


@pytest.mark.parametrize(
    "module", ["agents.opening", "memory.memory", "search.index", "worker.worker"]
)
def test_what_works_is_loaded_without_what_only_work_needs(
    module: str, processes: Forks, tmp_path: Path
) -> None:
    loaded = processes.modules(f"import dcf.{module}", tmp_path)
    assert loaded & LIBRARIES == set()


@pytest.mark.parametrize("words", ["memory init ada", "memory agents", "memory show ada"])
def test_a_memory_is_looked_at_without_computing_vectors(
    words: str, processes: Forks, tmp_path: Path
) -> None:
    code, loaded = processes.command("memory", "init", "ada", folder=tmp_path)
    if words != "memory init ada":
        code, loaded = processes.command(*words.split(), folder=tmp_path)
    assert code == 0
    assert loaded & (LIBRARIES | SERVING | {"dcf.worker", "dcf.workflow", "jsonschema"}) == set()


def test_a_document_is_checked_without_agents(processes: Forks, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
    code, loaded = processes.command("validate", str(file), folder=tmp_path)
    assert code == 0
    assert loaded & (LIBRARIES | AGENTS | SERVING) == set()


def test_a_vector_that_is_computed_loads_numpy(processes: Forks, tmp_path: Path) -> None:
    program = "from dcf.late_numpy import np; print(int(np.int64(2) + np.int64(3)))"
    assert processes.run(program, tmp_path) == 5


def test_vectors_are_multiplied_by_one_thread(processes: Forks, tmp_path: Path) -> None:
    program = """
from pathlib import Path
from dcf.late_numpy import np

large = np.ones((1000, 1000))
large @ large
print(len(list(Path("/proc/self/task").iterdir())))
"""
    assert processes.run(program, tmp_path) == 1


def test_a_start_is_not_spent_on_collecting_garbage() -> None:
    program = """
import gc
from dcf.cli.entry import main

def collections():
    return sum(one["collections"] for one in gc.get_stats())

before = collections()
try:
    main(["run", "--help"])
finally:
    print(collections() - before, gc.get_freeze_count() > gc.get_count()[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    made, frozen = done.stdout.splitlines()[-1].split()
    assert int(made) <= 2
    assert frozen == "True", "the end of the process looks for garbage once more"


def test_the_file_of_a_run_is_read_without_the_extra_that_has_lua(
    processes: Forks, tmp_path: Path
) -> None:
    loaded = processes.modules("from control_plane.twin import Shelf", tmp_path)
    assert not any(name.partition(".")[0] == "lupa" for name in loaded)
