"""Choreography: a branch or an item that fails, and the Parallel or Map around it."""

from __future__ import annotations

import asyncio
from typing import Any

from unit.workflow.choreography_samples import ended, failing
from unit.workflow.stage import (
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

from dcf.worker import TaskFailure


@staged
async def test_a_failed_branch_fails_parallel_and_cancels_the_work_beside_it(stage: Stage) -> None:
    cancelled = []

    async def long(_given: Any) -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cancelled.append(stage.loop.now)
            raise

    definition = flow(
        P=parallel(flow(L=task("long")), flow(R=task("boom")), **catch("After")),
        After={"Type": "Wait", "Seconds": 60},
    )
    handlers = {"long": long, "boom": failing("Boom", times=1)}
    result = await stage.play(definition, None, handlers, ttl_ms=3000)
    assert ended(result) == ("succeeded", {"Error": "Boom", "Cause": "as planned"})
    assert len(cancelled) == 1
    assert cancelled[0] <= 1.5, "the work is told at its next renewal, a third of 3 s"
    assert await stage.status("P[0]/L") == "cancelled"


@staged
async def test_a_failed_item_fails_its_map_and_opens_no_more_items(stage: Stage) -> None:
    work = Calls(lambda n: TaskFailure("Boom", "") if n == 1 else n)
    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=1))
    result = await stage.play(definition, list(range(9)), {"work": work})
    assert ended(result) == ("failed", "Boom")
    assert work.given == [0, 1]


@staged
async def test_retry_of_a_map_does_all_its_items_again(stage: Stage) -> None:
    broken = [True]

    def answer(n: int) -> Any:
        if n == 2 and broken.pop(0) if broken else False:
            return TaskFailure("Boom", "")
        return n

    work = Calls(answer)
    definition = flow(M=mapping(flow(T=task()), MaxConcurrency=1, **retry("Boom")))
    result = await stage.play(definition, [1, 2], {"work": work})
    assert ended(result) == ("succeeded", [1, 2])
    assert work.given == [1, 2, 1, 2]


@staged
async def test_an_item_whose_selector_cannot_be_evaluated_fails_its_map(stage: Stage) -> None:
    selector = {"v.$": "$$.Map.Item.Value.missing"}
    definition = flow(M=mapping(flow(T=passing()), ItemSelector=selector))
    assert ended(await stage.play(definition, [{}])) == ("failed", "States.Runtime")
