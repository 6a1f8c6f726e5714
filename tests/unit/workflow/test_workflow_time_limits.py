"""Time limits that depend on what is known only when the work begins."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from unit.workflow.stage import RUN, Calls, Stage, flow, retry, staged, task

from dcf.worker import TaskFailure


def jsonata(**states: dict[str, Any]) -> dict[str, Any]:
    return {**flow(**states), "QueryLanguage": "JSONata"}


async def slow(_: Any) -> str:
    await asyncio.sleep(50)
    return "done"


@staged
async def test_a_limit_may_depend_on_the_count_of_retries(stage: Stage) -> None:
    tries = Calls(lambda _: TaskFailure("Flaky"))

    async def work(given: Any) -> str:
        if tries.count == 0:
            await tries(given)
        return await slow(given)

    limit = "{% $states.context.State.RetryCount = 0 ? 5 : 100 %}"
    again = retry("Flaky", IntervalSeconds=1)
    result = await stage.play(jsonata(A=task(TimeoutSeconds=limit, **again)), None, {"work": work})
    assert result.output == "done"


@staged
@pytest.mark.parametrize(
    "limit",
    [
        "{% $toMillis($states.context.State.EnteredTime) > 0 ? 100 : 5 %}",
        "{% $toMillis($states.context.Execution.StartTime) > 0 ? 100 : 5 %}",
    ],
)
async def test_a_limit_may_depend_on_when_it_began(limit: str, stage: Stage) -> None:
    result = await stage.play(jsonata(A=task(TimeoutSeconds=limit)), None, {"work": slow})
    assert result.output == "done"


@staged
async def test_a_limit_may_depend_on_the_token(stage: Stage) -> None:
    limit = "{% $exists($states.context.Task.Token) ? 7 : 100 %}"
    fields = {"Arguments": {"t": "{% $states.context.Task.Token %}"}, "TimeoutSeconds": limit}
    stage.worker({"ask": Calls()})
    await stage.submit(jsonata(A=task("ask.waitForTaskToken", **fields)))
    result = await stage.end(within_s=20)
    assert result.failure is not None
    assert result.failure.error == "States.Timeout"


@staged
async def test_limits_known_at_entering_cost_no_call(stage: Stage) -> None:
    fields = {"TimeoutSeconds": "{% $states.input.t %}", "HeartbeatSeconds": 10}
    calls = Calls()
    stage.worker({"work": calls})
    renewals = 0
    renew = stage.store.renew

    async def counted(*args: Any, **options: Any) -> Any:
        nonlocal renewals
        renewals += 1
        return await renew(*args, **options)

    stage.store.renew = counted  # type: ignore[method-assign]
    await stage.submit(jsonata(A=task(**fields), B=task(**fields)), {"t": 100})
    assert (await stage.end(RUN)).status == "succeeded"
    assert (calls.count, renewals) == (2, 0)
