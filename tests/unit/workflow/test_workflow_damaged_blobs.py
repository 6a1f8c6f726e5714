"""Blobs of a run that are gone or changed while it goes on: what needs them fails at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    flow,
    mapping,
    parallel,
    passing,
    retry,
    staged,
    task,
)

from control_plane import DamagedRun, payload
from dcf.workflow import explain, redrive, succeed_task, write_audit_trail
from dcf.workflow.result import Result

LARGE = "x" * 300_000
TOKEN_TASK = task("ask.waitForTaskToken")


async def lose(stage: Stage, value: Any) -> str:
    """Delete the blob of ``value``; its key."""
    return await delete(stage, payload.encode(value).digest)


async def delete(stage: Stage, digest: str) -> str:
    key = stage.store.keys(RUN).blob(digest)
    assert await stage.twin.command("DEL", key) == 1
    return key


async def ended_with_damage(stage: Stage, key: str, at: str, *needs: str) -> Result:
    """The run ended, no sooner than was to be seen, and says all that helps."""
    begun = stage.loop.time()
    result = await stage.end(within_s=5)
    assert stage.loop.time() - begun < 2
    assert result.status == "failed" and result.failure is not None
    assert result.failure.error == "States.Runtime"
    said = result.failure.cause or ""
    for words in (key, *needs, "`dcf redrive run-1`"):
        assert words in said
    summary = (await explain(stage.store, RUN)).summary
    assert f"failed at {at} (States.Runtime: " in summary and key in summary
    lost = [event for event in await stage.events() if event["type"] == "LeaseLost"]
    assert lost == []
    return result


def fresh_worker(stage: Stage, work: Any = None) -> None:
    """A worker that has read nothing yet."""
    stage.worker({"work": work or Calls()}, name="w2", store=stage.new_store())


@staged
async def test_a_definition_that_is_gone_ends_the_run_before_its_first_state(stage: Stage) -> None:
    work = Calls()
    await stage.submit(flow(A=task(**retry(), **catch("B")), B=passing()))
    key = await delete(stage, (await stage.store.run(RUN)).definition)
    fresh_worker(stage, work)
    await ended_with_damage(stage, key, "A", "the definition of run run-1", "A needs it")
    assert work.count == 0
    with pytest.raises(DamagedRun, match=key):
        await redrive(stage.store, RUN)


@staged
async def test_an_input_that_is_gone_is_no_error_that_the_workflow_may_catch(
    stage: Stage, tmp_path: Path
) -> None:
    await stage.submit(flow(A=task(**retry(), **catch("B")), B=passing()), LARGE)
    key = await lose(stage, LARGE)
    fresh_worker(stage)
    await ended_with_damage(stage, key, "A", "the input of run run-1")
    folder = await write_audit_trail(stage.store, RUN, tmp_path, by="tests")
    meta = json.loads((folder / "control_plane" / "meta.json").read_text())
    assert meta["input"]["$blob"] == payload.encode(LARGE).digest


@staged
async def test_an_answer_from_outside_that_is_gone(stage: Stage) -> None:
    asked: list[str] = []

    async def ask(given: Any) -> None:
        asked.append(given["token"])

    leaver = stage.worker({"ask": ask})
    definition = flow(
        A={**TOKEN_TASK, "Parameters": {"token.$": "$$.Task.Token"}, **retry(), **catch("B")},
        B=passing(),
    )
    await stage.submit(definition)
    await stage.until_status("A", "waiting")
    await stage.leave(leaver)
    await succeed_task(stage.store, asked[0], LARGE)
    stored = (await stage.state("A")).event_payload
    key = await delete(stage, payload.blob_of(stored) or "")
    fresh_worker(stage)
    await ended_with_damage(stage, key, "A", "the answer that A got")


@staged
async def test_what_no_catch_sees_in_a_branch_none_sees_around_it(stage: Stage) -> None:
    leaver = stage.worker({"work": Calls()})
    branch = flow(W={"Type": "Wait", "Seconds": 60}, X=task())
    await stage.submit(flow(P=parallel(branch, **retry(), **catch("B")), B=passing()), LARGE)
    await stage.until_status("P[0]/W", "waiting")
    await stage.leave(leaver)
    key = await lose(stage, LARGE)
    fresh_worker(stage)
    result = await stage.end()
    assert result.status == "failed" and result.failure is not None
    assert result.failure.error == "States.Runtime" and key in (result.failure.cause or "")


@staged
async def test_items_of_a_map_that_are_gone(stage: Stage) -> None:
    items = [LARGE, LARGE]
    started = asyncio.Event()

    async def stuck(_: Any) -> None:
        started.set()
        await asyncio.sleep(3000)

    first = stage.worker({"work": stuck})
    await stage.submit(
        flow(M=mapping(flow(X=task()), MaxConcurrency=1, **catch("B")), B=passing()), items
    )
    await started.wait()
    await stage.kill(first)
    fan = (await stage.state("M")).fan
    key = await delete(stage, payload.blob_of(fan) or "")
    fresh_worker(stage)
    result = await stage.end()
    assert result.status == "failed" and result.failure is not None
    assert result.failure.error == "States.Runtime"
    assert key in (result.failure.cause or "") and "M" in (result.failure.cause or "")


async def overwrite(stage: Stage, key: str) -> None:
    await stage.twin.command("SET", key, '"other"')


async def retype(stage: Stage, key: str) -> None:
    await stage.twin.command("DEL", key)
    await stage.twin.command("HSET", key, "a", "b")


@staged
@pytest.mark.parametrize(
    ("damage", "told"), [(overwrite, "does not match its digest"), (retype, "is no text")]
)
async def test_a_blob_that_is_another_by_now(
    stage: Stage, damage: Callable[[Stage, str], Awaitable[None]], told: str
) -> None:
    await stage.submit(flow(A=task(**catch("B")), B=passing()), LARGE)
    key = stage.store.keys(RUN).blob(payload.encode(LARGE).digest)
    await damage(stage, key)
    fresh_worker(stage)
    await ended_with_damage(stage, key, "A", told)


@staged
async def test_a_run_goes_on_once_its_blob_is_there_again(stage: Stage) -> None:
    await stage.submit(flow(A=task()), LARGE)
    key = await lose(stage, LARGE)
    fresh_worker(stage)
    await ended_with_damage(stage, key, "A")
    await stage.twin.command("SET", key, payload.to_text(LARGE))
    await redrive(stage.store, RUN)
    assert (await stage.end()).output == LARGE
