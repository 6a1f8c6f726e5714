"""Runs on a real Redis: all state types in one, processes that finalize and write at once."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from commands import python
from integration.worker.crew import crew_on
from redis.asyncio import Redis
from unit.workflow.stage import Calls, document_of, flow, mapping, parallel, passing, retry, task

from control_plane import RunExists
from dcf.worker import TaskFailure
from dcf.workflow import redrive, submit

FINALIZE = """
import asyncio, json, sys
from pathlib import Path
from control_plane import RedisBackend, Store
from dcf.workflow import finalize, write_audit_trail

async def main(url, by, root):
    store = Store(RedisBackend.from_url(url))
    await write_audit_trail(store, "r", Path(root), by=by)
    print(json.dumps(await finalize(store, "r", by=by)))
    await store.backend.close()

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_run_through_all_eight_types(redis_url: str) -> None:
    work = Calls(lambda n: n * 2)
    definition = flow(
        P=passing(Parameters={"n.$": "$.n", "items": [1, 2, 3]}),
        C={
            "Type": "Choice",
            "Choices": [{"Variable": "$.n", "NumericGreaterThan": 5, "Next": "W"}],
            "Default": "F",
        },
        W={"Type": "Wait", "Seconds": 0},
        M=mapping(flow(T=task()), ItemsPath="$.items", ResultPath="$.doubled", MaxConcurrency=2),
        B=parallel(flow(L=passing(InputPath="$.doubled")), flow(R=task("n"))),
        S={"Type": "Succeed", "OutputPath": "$[0]"},
        F={"Type": "Fail", "Error": "TooSmall"},
    )
    async with crew_on(redis_url) as crew:
        crew.worker({"work": work, "n": Calls()})
        document = document_of(definition)
        await submit(crew.store, document, {"n": 9}, workflow_id="r9")
        await submit(crew.store, document, {"n": 1}, workflow_id="r1")
        succeeded, failed = await crew.end("r9"), await crew.end("r1")
    assert (succeeded.status, succeeded.output) == ("succeeded", [2, 4, 6])
    assert failed.failure and failed.failure.error == "TooSmall"


async def test_a_retry_waits_its_time(redis_url: str) -> None:
    work = Calls(lambda _: TaskFailure("Flaky", "") if work.count == 1 else "ok")
    async with crew_on(redis_url) as crew:
        crew.worker({"work": work})
        await submit(crew.store, document_of(flow(A=task(**retry("Flaky")))), 0, workflow_id="r")
        result = await crew.end("r")
    assert (result.output, work.count) == ("ok", 2)
    assert result.finished_at and result.started_at
    assert 1000 <= result.finished_at - result.started_at < 2000


async def test_a_refused_submission_changes_no_key(redis_url: str) -> None:
    async with crew_on(redis_url) as crew, Redis.from_url(redis_url) as client:
        document = document_of(flow(A=task()))
        await submit(crew.store, document, 1, workflow_id="r")
        before = await _keys(client)
        with pytest.raises(RunExists):
            await submit(crew.store, document, "x" * 400_000, workflow_id="r")
        with pytest.raises(RunExists):
            await submit(crew.store, document_of(flow(B=task())), 1, workflow_id="r")
        assert await _keys(client) == before


async def test_the_same_submission_from_many_sides_is_one_run(redis_url: str) -> None:
    document = document_of(flow(A=passing()))
    async with crew_on(redis_url) as crew:
        stores = [crew.open_store() for _ in range(6)]
        await asyncio.gather(*(submit(store, document, 1, workflow_id="r") for store in stores))
        crew.worker()
        await crew.end("r")
        started = await crew.store.backend.command("XLEN", crew.store.keys("r").history)
        state = (await crew.store.states("r", ["A"]))["A"]
    assert (state.visit, state.attempts) == (1, 1)
    assert started > 0


async def test_two_processes_finalize_and_write_the_trail_at_once(
    redis_url: str, tmp_path: Path
) -> None:
    async with crew_on(redis_url) as crew:
        await submit(crew.store, document_of(flow(A=passing(), B=passing())), 1, workflow_id="r")
        await crew.store.cancel("r", by="test")
        processes = [
            await asyncio.create_subprocess_exec(
                python(), "-c", FINALIZE, redis_url, by, str(tmp_path),
                stdout=asyncio.subprocess.PIPE,
            )
            for by in ("p1", "p2")
        ]  # fmt: skip
        outputs = await asyncio.gather(*(process.communicate() for process in processes))
        records = [json.loads(text) for text, _ in outputs]
        events = await crew.store.backend.command("XRANGE", crew.store.keys("r").history, "-", "+")
    assert records[0] == records[1]
    assert records[0]["states"]["by_status"] == {"cancelled": 1, "skipped": 1}
    assert sum("RunFinalized" in str(fields) for _, fields in events) == 1
    written = json.loads((tmp_path / "r/data_plane/audit/finalize.json").read_text())
    assert written == records[0]
    assert not list(tmp_path.rglob("*.part"))


async def test_only_the_failed_item_runs_again_after_a_redrive(redis_url: str) -> None:
    broken = [3]
    work = Calls(lambda n: TaskFailure("Boom", "") if n in broken else n * 10)
    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=1))
    async with crew_on(redis_url) as crew:
        crew.worker({"work": work})
        await submit(crew.store, document_of(definition), [1, 2, 3, 4], workflow_id="r")
        assert (await crew.end("r")).status == "failed"
        broken.clear()
        await redrive(crew.store, "r")
        result = await crew.end("r")
    assert result.output == [10, 20, 30, 40]
    assert work.given == [1, 2, 3, 3, 4]


async def _keys(client: Redis) -> dict[bytes, Any]:
    """Every key with its content, as the server would write it to disk."""
    return {name: await client.dump(name) for name in await client.keys("*")}
