"""Approvals of whole tasks, before any of their work."""

from __future__ import annotations

import asyncio
from typing import Any

from unit.worker.approval_samples import LOOK, RUN, VALUE, Script, begin, bound, decide, waits
from unit.workflow.stage import Stage, flow, staged

from dcf.agents import Assignment, Report
from dcf.workflow import (
    pending_approvals,
)


@staged
async def test_a_task_can_wait_before_any_work(stage: Stage) -> None:
    approval = {"required": True, "approvers": ["ada"]}
    script = Script((LOOK, VALUE))
    tools = await begin(stage, flow(A=bound(binding={"approval": approval})), runtime=script)
    await waits(stage)
    assert (script.begun, tools.calls) == (0, [])
    (asked,) = await pending_approvals(stage.store, RUN)
    assert (asked.kind, asked.request.tool_name) == ("task", "A")
    assert asked.request.arguments == {"input": VALUE}
    await decide(stage, by="ada")
    assert (await stage.end()).status == "succeeded"
    assert script.begun == 1


@staged
async def test_a_task_that_was_approved_still_asks_for_its_calls(stage: Stage) -> None:
    tools = await begin(stage, flow(A=bound(binding={"approval": {"required": True}})))
    await waits(stage)
    await decide(stage)
    while (await waits(stage)).ask != 2:
        await asyncio.sleep(0.05)
    assert [call["tool"] for call in tools.calls] == ["web.look"]
    await decide(stage)
    assert (await stage.end()).status == "succeeded"
    assert [call["tool"] for call in tools.calls] == ["web.look", "bank.pay"]


@staged
async def test_what_was_approved_is_what_is_done_whatever_expressions_make_anew(
    stage: Stage,
) -> None:
    """States.UUID gives another value each time it is evaluated."""
    task = bound(binding={"approval": {"required": True}}, Parameters={"order.$": "States.UUID()"})

    class Seeing(Script):
        seen: Any = None

        async def perform(self, assignment: Assignment, call_tool: Any, observe: Any) -> Report:
            Seeing.seen = assignment.input
            return await super().perform(assignment, call_tool, observe)

    await begin(stage, flow(A=task), runtime=Seeing((LOOK, VALUE)))
    await waits(stage)
    (asked,) = await pending_approvals(stage.store, RUN)
    await decide(stage)
    assert (await stage.end()).status == "succeeded"
    assert asked.request.arguments == {"input": Seeing.seen}
