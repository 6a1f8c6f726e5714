"""Budgets of tries and runs: calls and time."""

from __future__ import annotations

import asyncio

from unit.worker.approval_samples import LOOK, RUN, VALUE, begin, bound, decide, told, waits
from unit.workflow.stage import Stage, flow, staged


@staged
async def test_the_budget_of_a_try_stops_it_before_the_next_call(stage: Stage) -> None:
    tools = await begin(
        stage,
        flow(A=bound(binding={"budget": {"tool_calls": 1}})),
        calls=[(LOOK, VALUE), (LOOK, {"order": "o-2"})],
    )
    result = await stage.end()
    assert result.failure is not None
    assert result.failure.error == "DCF.BudgetExhausted"
    assert "1 of 1 tool calls" in (result.failure.cause or "")
    assert len(tools.calls) == 1
    (*_, refused) = await told(stage, "ToolDecision")
    assert (refused["verdict"], refused["rule"], refused["budget"]) == (
        "deny", "budget.tool_calls", "try",
    )  # fmt: skip


@staged
async def test_the_budget_of_the_run_counts_over_its_states(stage: Stage) -> None:
    definition = flow(A=bound(), B=bound())
    envelope = {"workflow_name": "w", "asl": definition, "budget": {"tool_calls": 1}}
    tools = await begin(stage, envelope, calls=[(LOOK, VALUE)])
    result = await stage.end()
    assert (result.status, len(tools.calls)) == ("failed", 1)
    assert result.failure is not None
    assert result.failure.error == "DCF.BudgetExhausted"
    assert (await stage.store.run(RUN)).raw["budget"] == {"tool_calls": 1}


@staged
async def test_the_time_of_a_try_is_that_of_its_work_not_of_the_waiting(stage: Stage) -> None:
    await begin(stage, flow(A=bound(TimeoutSeconds=30, binding={"budget": {"wall_time_s": 30}})))
    await waits(stage)
    await asyncio.sleep(3_000)
    await decide(stage)
    assert (await stage.end()).status == "succeeded"
