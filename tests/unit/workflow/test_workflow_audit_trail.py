"""The audit trail on disk: the files that the platform guide names, readable and unique."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    document_of,
    flow,
    mapping,
    passing,
    staged,
    task,
)

from control_plane import encode_name, inside
from dcf.worker import TaskFailure
from dcf.workflow import StillRunning, write_audit_trail
from dcf.workflow.audit_trail import file_name

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
NASTY = [
    "../../etc/passwd",
    "..",
    ".",
    "a/b",
    "a\\b",
    "CON",
    "Fan[0]/T",
    "\x00",
    "ä" * 80,
    "x" * 80,
]


def content(folder: Path) -> dict[str, Any]:
    """Every file below ``folder``, parsed."""
    found: dict[str, Any] = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            name, text = file.relative_to(folder).as_posix(), file.read_text("utf-8")
            found[name] = (
                [json.loads(line) for line in text.splitlines()]
                if name.endswith(".jsonl")
                else json.loads(text)
            )
    return found


async def trail(stage: Stage, root: Path) -> dict[str, Any]:
    return content(await write_audit_trail(stage.store, RUN, root, by="test"))


def test_file_names_are_unique_and_safe_whatever_the_states_are_called() -> None:
    @given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.integers(0, 999))
    def check(names: list[str], number: int) -> None:
        paths = [encode_name(name) for name in names]
        paths += [inside(f"{paths[0]}[{number}]", name) for name in names]
        files = [file_name(path) for path in paths]
        assert len(set(files)) == len(files)
        for file in files:
            assert "/" not in file and "\\" not in file and "\0" not in file
            assert file.isascii() and len(file) <= 120
            assert file.endswith(".json") and not file.startswith(".")

    check()


@staged
async def test_the_folder_holds_every_file_of_the_guide(tmp_path: Path, stage: Stage) -> None:
    definition = flow(A=task(), M=mapping(flow(T=passing())))
    await stage.play(definition, None, {"work": Calls(lambda _: [1, 2])})
    files = await trail(stage, tmp_path)
    states = ["A", "M", "M[0]", "M[0]%2FT", "M[1]", "M[1]%2FT"]
    assert set(files) == {
        "workflow.json",
        "summary.json",
        "history.jsonl",
        "control_plane/meta.json",
        *(f"control_plane/states/{name}.json" for name in states),
        *(f"data_plane/outputs/{name}.json" for name in ["A", "M", "M[0]%2FT", "M[1]%2FT"]),
        "data_plane/audit/finalize.json",
    }
    assert files["workflow.json"] == document_of(definition).raw
    assert files["data_plane/outputs/M.json"]["data"] == [1, 2]
    assert files["control_plane/states/M[1]%2FT.json"]["input"] == 2


@staged
async def test_the_summary_says_what_came_out(tmp_path: Path, stage: Stage) -> None:
    await stage.play(flow(A=passing(Result={"x": 1})))
    summary = (await trail(stage, tmp_path))["summary.json"]
    assert summary["final_status"] == "succeeded"
    assert summary["output"] == {"x": 1}
    assert summary["terminal_outputs"] == [{"state": "A", "output": {"x": 1}}]
    assert summary["execution_summary"]["succeeded"] == 1
    assert summary["errors"] == []
    assert summary["audit_trail_path"] == str(tmp_path / RUN)


@staged
async def test_the_summary_of_a_failed_run_names_its_errors(tmp_path: Path, stage: Stage) -> None:
    boom = Calls(lambda _: TaskFailure("Boom", "bad luck"))
    await stage.play(flow(A=task()), None, {"work": boom})
    summary = (await trail(stage, tmp_path))["summary.json"]
    assert summary["errors"] == [{"state": "A", "visit": 1, "error": "Boom", "cause": "bad luck"}]
    assert summary["output"] is None


@staged
async def test_the_history_is_complete_and_in_order(tmp_path: Path, stage: Stage) -> None:
    await stage.play(flow(A=passing()))
    lines = (await trail(stage, tmp_path))["history.jsonl"]
    kinds = [line["type"] for line in lines]
    assert (kinds[0], kinds[-2:]) == ("RunStarted", ["RunEnded", "RunFinalized"])
    assert all(line["chain"] and line["at"].endswith("Z") for line in lines)
    assert [line["who"] for line in lines] == ["client", *["w1"] * (len(lines) - 1)]


@staged
async def test_large_values_are_written_in_full(tmp_path: Path, stage: Stage) -> None:
    text = "x" * 300_000
    await stage.play(flow(A=task(), B=passing()), None, {"work": Calls(lambda _: text)})
    files = await trail(stage, tmp_path)
    assert files["data_plane/outputs/A.json"]["data"] == text
    assert files["control_plane/states/B.json"]["input"] == text


@staged
async def test_written_twice_it_is_the_same(tmp_path: Path, stage: Stage) -> None:
    await stage.play(flow(A=passing()))
    assert await trail(stage, tmp_path) == await trail(stage, tmp_path)


@staged
async def test_nasty_names_stay_inside_the_folder(tmp_path: Path, stage: Stage) -> None:
    await stage.play(flow(**{name: passing() for name in NASTY}))
    files = await trail(stage, tmp_path / "deep" / "runs")
    states = [name for name in files if name.startswith("control_plane/states/")]
    assert len(states) == len(NASTY)
    assert [entry.name for entry in tmp_path.iterdir()] == ["deep"]
    assert [entry.name for entry in (tmp_path / "deep" / "runs").iterdir()] == [RUN]


@staged
async def test_a_run_that_is_not_over_leaves_no_trail(tmp_path: Path, stage: Stage) -> None:
    await stage.submit(flow(A=passing()))
    with pytest.raises(StillRunning):
        await trail(stage, tmp_path)
    assert list(tmp_path.iterdir()) == []
