"""Every line of an audit trail says who did it, whatever kind of run it is."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from unit.workflow.stage import RUN, Calls, Stage, flow, mapping, retry, staged, task

from control_plane import export_run, history, restore_run
from dcf.cli.event_line import event_line
from dcf.worker import TaskFailure, current_work
from dcf.workflow import read_timeline, redrive, succeed_task, write_audit_trail


async def worked(stage: Stage) -> None:
    stage.worker({"work": Calls()})
    await stage.submit(flow(M=mapping(flow(X=task())), B=task()), [1, 2])


async def cancelled(stage: Stage) -> None:
    await stage.submit(flow(A=task()))
    await stage.store.cancel(RUN, by="ann")


async def redriven(stage: Stage) -> None:
    answers: list[Any] = [TaskFailure("E"), 1]
    stage.worker({"work": Calls(lambda _: answers.pop(0))})
    await stage.submit(flow(A=task()))
    await stage.end()
    await redrive(stage.store, RUN)


async def answered(stage: Stage) -> None:
    tokens: list[str | None] = []

    async def ask(_: Any) -> None:
        tokens.append(current_work().task_token)

    stage.worker({"ask": ask})
    await stage.submit(flow(A=task("ask.waitForTaskToken")))
    await stage.until_status("A", "waiting")
    await succeed_task(stage.store, tokens[0] or "", 1)


async def timed(stage: Stage) -> None:
    answers: list[Any] = [TaskFailure("E"), 1]
    stage.worker({"work": Calls(lambda _: answers.pop(0))})
    wait = {"Type": "Wait", "Seconds": 5}
    await stage.submit(
        flow(W=wait, A=task(**retry()), B=task("ask.waitForTaskToken", TimeoutSeconds=3))
    )


async def moved(stage: Stage) -> None:
    stage.worker({"work": Calls()})
    await stage.submit(flow(A=task(), B=task()))
    await stage.store.move(RUN, "default", turn=1, by="ann")


async def restored(stage: Stage) -> None:
    await worked(stage)
    await stage.end()


@staged
@pytest.mark.parametrize("play", [worked, cancelled, redriven, answered, timed, moved, restored])
async def test_no_line_is_by_none(
    stage: Stage, tmp_path: Path, play: Callable[[Stage], Awaitable[None]]
) -> None:
    await play(stage)
    await stage.end()
    folder = await write_audit_trail(stage.store, RUN, tmp_path, by="tests")
    if play is restored:
        kept = await export_run(stage.store, RUN)
        await stage.store.remove(RUN)
        await restore_run(stage.store, kept)
        folder = await write_audit_trail(stage.store, RUN, tmp_path / "again", by="tests")
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert len(lines) > 3
    for line in lines:
        assert line["who"] not in ("", "None", None), line
        assert line.get("by") not in ("", "None")
    audit = json.loads((folder / "data_plane" / "audit" / "finalize.json").read_text())
    assert audit["by"] not in ("", "None", None)
    timeline = await read_timeline(history.read(stage.store, RUN))
    for moment in timeline.moments:
        assert "None" not in event_line(moment.type, moment.details)
