"""Workers on a real Redis: leases kept by a thread, takeovers, signs of life, tools."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

from integration.tools.conftest import TOOLS, serving_app
from integration.worker.crew import crew_on
from unit.workflow.stage import document_of, flow, mapping, parallel, passing, retry, task

from control_plane import HintQueue
from dcf.agents import LocalRuntime
from dcf.skills import Manifest, Permissions, SkillCatalog, SkillTool
from dcf.tools import Registry, ServerConfig, Toolbox
from dcf.tools.stub import create_stub_app
from dcf.worker import SkilledAgents, TaskFailure
from dcf.workflow import explain, live_workers, submit


async def test_a_busy_event_loop_loses_no_lease(redis_url: str) -> None:
    calls = 0

    async def blocking(_given: Any) -> str:
        nonlocal calls
        calls += 1
        # Nothing else runs in the worker's loop, for longer than the lease lasts.
        time.sleep(1.0)  # noqa: ASYNC251
        return "done"

    async with crew_on(redis_url) as crew:
        crew.worker({"work": blocking}, ttl_ms=300)
        await submit(crew.store, document_of(flow(A=task())), None, workflow_id="r")
        assert (await crew.end("r")).output == "done"
        state = (await crew.store.states("r", ["A"]))["A"]
    assert (calls, state.attempts, state.takeovers) == (1, 1, 0)


async def test_a_dead_workers_state_is_taken_over_when_its_lease_ends(redis_url: str) -> None:
    began = asyncio.Event()

    async def hang(_given: Any) -> None:
        began.set()
        await asyncio.sleep(60)

    async def work(given: Any) -> Any:
        return given

    async with crew_on(redis_url) as crew:
        first = crew.worker({"work": hang}, ttl_ms=300)
        await submit(crew.store, document_of(flow(A=task())), 7, workflow_id="r")
        await began.wait()
        await crew.kill(first)
        crew.worker({"work": work}, name="w2", ttl_ms=300)
        assert (await crew.end("r")).output == 7
        state = (await crew.store.states("r", ["A"]))["A"]
    assert (state.attempts, state.takeovers, state.try_) == (2, 1, 1)


async def test_a_task_over_its_time_is_cancelled(redis_url: str) -> None:
    cancelled = asyncio.Event()

    async def hang(_given: Any) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with crew_on(redis_url) as crew:
        crew.worker({"work": hang})
        await submit(crew.store, document_of(flow(A=task(TimeoutSeconds=1))), None, workflow_id="r")
        result = await crew.end("r")
        async with asyncio.timeout(1):
            await cancelled.wait()
    assert result.failure and result.failure.error == "States.Timeout"


async def test_many_workers_share_one_run_and_do_each_item_once(redis_url: str) -> None:
    done: list[tuple[str, int]] = []

    def handlers(name: str) -> dict[str, Any]:
        async def work(n: int) -> int:
            done.append((name, n))
            await asyncio.sleep(0.005)
            return n * n

        return {"work": work}

    definition = flow(M=mapping(flow(P=parallel(flow(T=task()), flow(N=passing())))))
    async with crew_on(redis_url) as crew:
        for name in ("w1", "w2", "w3"):
            crew.worker(handlers(name), name=name, concurrency=2)
        await submit(crew.store, document_of(definition), list(range(30)), workflow_id="r")
        result = await crew.end("r")
    assert result.output == [[n * n, n] for n in range(30)]
    assert sorted(n for _, n in done) == list(range(30))
    assert len({name for name, _ in done}) > 1


async def test_what_a_draining_worker_gives_back_is_taken_at_once(redis_url: str) -> None:
    began = asyncio.Event()

    async def hang(_given: Any) -> None:
        began.set()
        await asyncio.sleep(60)

    async def work(_given: Any) -> str:
        return "done"

    async with crew_on(redis_url) as crew:
        first = crew.worker({"work": hang}, drain_s=0.1)
        await submit(crew.store, document_of(flow(A=task())), None, workflow_id="r")
        await began.wait()
        crew.worker({"work": work}, name="w2")
        first.drain()
        assert (await crew.end("r")).output == "done"
        state = (await crew.store.states("r", ["A"]))["A"]
    assert (state.takeovers, state.try_) == (0, 1)


async def test_a_reader_gives_a_sign_of_life_also_while_it_reads_nothing(redis_url: str) -> None:
    async with crew_on(redis_url) as crew:
        queue = HintQueue(crew.store.backend, pool="default", consumer="busy")
        assert await live_workers(crew.store) == 0
        await queue.open()
        await queue.read(1, block_ms=1)
        await asyncio.sleep(0.05)
        assert await live_workers(crew.store, within_ms=30) == 0
        async with asyncio.timeout(20):
            while not await live_workers(crew.store, within_ms=30):
                await queue.drop_stale()
        assert await live_workers(crew.store) == 1
        assert await live_workers(crew.store, but={"busy"}) == 0


async def test_explain_knows_the_workers_there_are(redis_url: str) -> None:
    async with crew_on(redis_url) as crew:
        await submit(
            crew.store,
            document_of(flow(W={"Type": "Wait", "Seconds": 60})),
            None,
            workflow_id="r",
        )
        assert (await explain(crew.store, "r")).workers == 0
        crew.worker()
        async with asyncio.timeout(5):
            while (await explain(crew.store, "r")).reasons[0].status != "waiting":
                await asyncio.sleep(0.01)
        assert (await explain(crew.store, "r")).workers == 1


async def test_a_task_works_again_when_its_tool_server_is_back(
    redis_url: str, tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = tmp_path / "stub_config.json"
    config.write_text(stub_text())
    tool = SkillTool("math", "count", "count", "", True, {"type": "object"})
    catalog = SkillCatalog([skill_with(tool)])
    server = ServerConfig("math", url=f"http://127.0.0.1:{port}/mcp/math", retries=0)
    binding = {
        "agent_template_ref": {"name": "any"},
        "skills": ["counting@1.0.0"],
        "tool_name": "count",
    }
    policy = retry("DCF.ToolUnavailable", IntervalSeconds=1, BackoffRate=1.0)
    definition = flow(A={"Type": "Task", "AgentBinding": binding, **policy})
    async with crew_on(redis_url) as crew, Toolbox(Registry([server])) as toolbox:
        crew.worker(agents=SkilledAgents(catalog, toolbox, LocalRuntime(), crew.store))
        document = document_of(definition, catalog=catalog)
        await submit(crew.store, document, {}, workflow_id="r", catalog=catalog)
        async with asyncio.timeout(10):
            while (state := (await crew.store.states("r", ["A"]))["A"]).status != "waiting":
                await asyncio.sleep(0.01)
        assert state.error and state.error.error == "DCF.ToolUnavailable"
        async with serving_app(create_stub_app(config), port):
            result = await crew.end("r")
    assert (result.status, result.output) == ("succeeded", 7)


async def test_an_error_of_a_handler_runs_through_catch_on_a_real_server(redis_url: str) -> None:
    async def boom(_given: Any) -> None:
        raise TaskFailure("Boom", "as planned")

    catcher = {"ErrorEquals": ["Boom"], "Next": "B", "ResultPath": "$.error"}
    definition = flow(A=task(Catch=[catcher]), B=passing())
    async with crew_on(redis_url) as crew:
        crew.worker({"work": boom})
        await submit(crew.store, document_of(definition), {"n": 1}, workflow_id="r")
        result = await crew.end("r")
    assert result.output == {"n": 1, "error": {"Error": "Boom", "Cause": "as planned"}}


def stub_text() -> str:
    return json.dumps({"seed": 1, "servers": {"math": {"tools": TOOLS["math"]}}})


def skill_with(tool: SkillTool) -> Manifest:
    return Manifest(
        manifest_id="skill.counting@1.0.0",
        name="counting",
        version="1.0.0",
        description="",
        directives="",
        tags=(),
        permissions=Permissions(),
        tools=(tool,),
        data_sources=(),
        dependencies=(),
        package_id=None,
        digest="sha256:1",
        raw={},
    )
