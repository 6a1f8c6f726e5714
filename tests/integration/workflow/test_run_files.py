"""What commands say of a run in a file, and which names mean a file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import crew_on
from unit.workflow.stage import document_of, flow

from control_plane import export_run, pack
from dcf.cli.explain import explain_run
from dcf.cli.history import show_history
from dcf.cli.run_files import file_meant
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.workflow import submit

FAIL = flow(A={"Type": "Fail", "Error": "Boom"})


def _settings(url: str, home: Path, **env: str) -> Settings:
    return Settings.from_env({"DCF_HOME": str(home), "DCF_REDIS_URL": url, **env})


async def _exported(url: str, workflow_id: str) -> bytes:
    """The file of a run that failed and waits for the graph."""
    sealed = asyncio.Event()
    async with crew_on(url, outbox=True) as crew:
        crew.worker(on_sealed=lambda _: sealed.set())
        await submit(crew.store, document_of(FAIL), None, workflow_id=workflow_id)
        await asyncio.wait_for(sealed.wait(), 20)
        return pack(await export_run(crew.store, workflow_id))


def _text(shown: list[Any]) -> str:
    return " ".join(str(one) for one in shown)


@pytest.mark.parametrize("graph", ["off", "demand"])
async def test_of_a_file_only_what_holds_for_a_file_is_said(
    redis_url: str, tmp_path: Path, graph: str
) -> None:
    file = tmp_path / "r.run.gz"
    file.write_bytes(await _exported(redis_url, "r"))
    settings = _settings(redis_url, tmp_path, DCF_GRAPH=graph)
    answer = await explain_run(str(file), settings, Screen(as_json=True))
    assert answer.fields["graph"] == "waiting"
    assert answer.fields["workers"] is None
    [reason] = answer.fields["reasons"]
    assert reason["command"] == f"dcf runs restore {file} && dcf redrive r"
    assert "graph" not in _text(answer.show)
    # Of the run in Redis it is said, where there is a graph.
    live = await explain_run("r", settings, Screen(as_json=True))
    assert ("not in the graph yet: 1 run waits" in _text(live.show)) is (graph == "demand")


async def test_a_name_without_a_dot_means_a_file_where_no_run_has_it(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    data = await _exported(redis_url, "run-1")
    monkeypatch.chdir(tmp_path)
    settings, screen = _settings(redis_url, tmp_path), Screen(as_json=True)
    for name in ("kept", "run-1", "a" * 65):
        Path(name).write_bytes(data)
    Path("run-2").mkdir()

    kept = await show_history("kept", settings, screen)
    assert kept.fields["workflow_id"] == "run-1"
    assert await file_meant("a" * 65, settings, screen) == Path("a" * 65)
    assert await file_meant("run-2", settings, screen) is None
    assert capsys.readouterr().err == ""

    assert await file_meant("run-1", settings, screen) is None
    said = capsys.readouterr().err
    assert said == "run-1 is a run and a file: this is the run; `./run-1` names the file\n"
    assert await file_meant("./run-1", settings, screen) == Path("run-1")
    # Without Redis nobody knows of a run.
    away = _settings("redis://127.0.0.1:1/0", tmp_path)
    assert await file_meant("run-1", away, screen) == Path("run-1")
