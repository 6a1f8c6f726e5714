"""Worker processes that are killed (SIGKILL) while they resume work that was approved."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import python
from integration.tools.conftest import serving_app
from integration.worker import mortal_worker
from integration.worker.crew import Crew, crew_on
from integration.worker.mortal_worker import BINDING, CATALOG, ORDER
from unit.workflow.stage import document_of, flow

from control_plane import history
from dcf.tools.stub import create_stub_app
from dcf.workflow import decide_approval, pending_approvals, submit

_TESTS = Path(__file__).parents[2]


@asynccontextmanager
async def worker_process(
    redis_url: str, tools_url: str, name: str, moment: str = ""
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker at work in a process of its own, which ends with the block if it did not before."""
    process = await asyncio.create_subprocess_exec(
        *(python(), mortal_worker.__file__, redis_url, tools_url, name, moment),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_TESTS.parent), str(_TESTS)])},
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def approve(crew: Crew) -> None:
    """Approve what is asked, once it is."""
    while not await pending_approvals(crew.store, "r"):
        await asyncio.sleep(0.02)
    await decide_approval(crew.store, "r", decision="approve", by="operator")


@pytest.mark.parametrize("moment", ["begun", "noted", "called", "performed"])
async def test_an_approved_call_is_made_once_and_its_approval_used_up_once_whenever_a_worker_dies(
    redis_url: str, tmp_path: Path, moment: str
) -> None:
    config = tmp_path / "stub_config.json"
    tools = {"look": {"defaultResponse": {"seen": True}}, "pay": {"defaultResponse": "{{uuid}}"}}
    config.write_text(json.dumps({"seed": 1, "servers": {"shop": {"tools": tools}}}))
    app = create_stub_app(config)
    definition = flow(A={"Type": "Task", "AgentBinding": BINDING})
    async with crew_on(redis_url) as crew, serving_app(app) as tools_url, asyncio.timeout(60):
        document = document_of(definition, catalog=CATALOG)
        async with worker_process(redis_url, tools_url, "w1", moment) as first:
            await submit(crew.store, document, ORDER, workflow_id="r", catalog=CATALOG)
            await approve(crew)
            assert await first.wait() == -signal.SIGKILL
        async with worker_process(redis_url, tools_url, "w2"):
            result = await crew.end("r")
        calls: list[dict[str, Any]] = app.state.desk.calls.to_list()
        state = (await crew.store.states("r", ["A"]))["A"]
        events = [event.event async for event in history.read(crew.store, "r")]
    paid = [call for call in calls if call["tool"] == "pay"]
    assert result.status == "succeeded"
    assert {call["idempotency_key"] for call in paid} == {"r/A/1/1/1"}
    assert [call["replayed"] for call in paid].count(False) == 1
    assert len(paid) == (1 if moment in ("begun", "noted") else 2)
    assert [call["replayed"] for call in calls if call["tool"] == "look"] == [False]
    assert state.calls is not None
    assert list(state.calls["used"].values()) == [1]
    assert (state.try_, state.takeovers, state.ask) == (1, 1, 1)
    assert [event["type"] for event in events].count("ApprovalRequested") == 1
