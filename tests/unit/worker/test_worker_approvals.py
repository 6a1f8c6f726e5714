"""Approvals: work stops before the call, a person decides, and the same try goes on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from unit.worker.approval_samples import (
    CATALOG,
    LOOK,
    PAY,
    PAY_2,
    PLAIN,
    RUN,
    VALUE,
    Script,
    begin,
    bound,
    decide,
    keys,
    waits,
)
from unit.worker.test_worker_agent_tasks import Tools
from unit.workflow.stage import Stage, document_of, flow, passing, retry, staged

from control_plane import Lease
from dcf.agents import Assignment, LocalRuntime, Report
from dcf.tools import ApprovalRequest, ApprovalRequired, Decision
from dcf.worker import SkilledAgents
from dcf.worker.lease_ledger import LeaseLedger
from dcf.workflow import (
    RunCache,
    Task,
    pending_approvals,
    submit,
)
from dcf.workflow.errors import QuestionChanged


@staged
async def test_a_high_risk_call_waits_and_calls_before_it_are_not_made_again(stage: Stage) -> None:
    tools = await begin(stage)
    await waits(stage)
    assert keys(tools) == ["web.look run-1/A/1/1/0"]
    (asked,) = await pending_approvals(stage.store, RUN)
    assert (asked.request.tool_name, asked.request.arguments) == ("pay", VALUE)
    assert asked.calls_made == 1
    await decide(stage, reason="it is due")
    result = await stage.end()
    assert result.output == [{"ok": True}, {"ok": True}]
    assert keys(tools) == ["web.look run-1/A/1/1/0", "bank.pay run-1/A/1/1/1"]


@staged
async def test_each_call_is_asked_for_by_itself(stage: Stage) -> None:
    calls = [*PLAIN, (PAY_2, VALUE), (LOOK, {"order": "o-2"})]
    tools = await begin(stage, calls=calls)
    await waits(stage)
    await decide(stage)
    while (await waits(stage)).ask != 2:
        await asyncio.sleep(0.05)
    await decide(stage)
    await stage.end()
    assert [call["idempotency_key"][-1] for call in tools.calls] == ["0", "1", "2", "3"]
    assert [call["tool"] for call in tools.calls] == [
        "web.look", "bank.pay", "bank.refund", "web.look",
    ]  # fmt: skip
    metrics = (await stage.state("A")).metrics
    assert metrics is not None
    assert metrics["tool_calls"] == 4, "answers from the journal are no calls"


@staged
async def test_an_approval_is_for_one_call(stage: Stage) -> None:
    tools = await begin(stage, calls=[(PAY, VALUE), (PAY, VALUE)])
    await waits(stage)
    await decide(stage)
    while (await waits(stage)).ask != 2:
        await asyncio.sleep(0.05)
    assert keys(tools) == ["bank.pay run-1/A/1/1/0"]
    await decide(stage, "reject")
    assert (await stage.end()).status == "failed"
    assert len(tools.calls) == 1


@staged
async def test_who_saw_one_question_does_not_answer_the_next_about_an_equal_call(
    stage: Stage,
) -> None:
    tools = await begin(stage, calls=[(PAY, VALUE), (PAY, VALUE)])
    await waits(stage)
    (first,) = await pending_approvals(stage.store, RUN)
    seen = {"digest": first.request.digest, "question": first.question}
    await decide(stage, **seen)
    while (await waits(stage)).ask != 2:
        await asyncio.sleep(0.05)
    (second,) = await pending_approvals(stage.store, RUN)
    assert second.request.digest == first.request.digest
    assert (first.question, second.question) == ("1.1.1", "1.1.2")
    with pytest.raises(QuestionChanged, match=r"question 1\.1\.2 now"):
        await decide(stage, **seen)
    assert len(tools.calls) == 1
    await decide(stage, digest=second.request.digest, question=second.question)
    assert (await stage.end()).status == "succeeded"
    assert len(tools.calls) == 2


@staged
async def test_who_saw_the_question_of_one_try_does_not_answer_that_of_a_retry(
    stage: Stage,
) -> None:
    retry = [{"ErrorEquals": ["DCF.ApprovalRejected"], "IntervalSeconds": 1, "MaxAttempts": 1}]
    tools = await begin(stage, flow(A=bound(Retry=retry)), calls=[(PAY, VALUE)])
    await waits(stage)
    (first,) = await pending_approvals(stage.store, RUN)
    seen = {"digest": first.request.digest, "question": first.question}
    await decide(stage, "reject", **seen)
    while (await waits(stage)).try_ != 2:
        await asyncio.sleep(0.05)
    (second,) = await pending_approvals(stage.store, RUN)
    assert (second.request.digest, second.ask) == (first.request.digest, first.ask)
    with pytest.raises(QuestionChanged, match=r"question 1\.2\.1 now"):
        await decide(stage, **seen)
    assert tools.calls == []


@staged
async def test_an_approval_is_for_these_arguments_alone(stage: Stage) -> None:
    """An agent that asks for one thing and then does another has to ask again."""

    class Fickle(Script):
        async def perform(self, assignment: Assignment, call_tool: Any, observe: Any) -> Report:
            self._calls = ((PAY, {"order": f"o-{self.begun}"}),)
            return await super().perform(assignment, call_tool, observe)

    tools = await begin(stage, runtime=Fickle())
    await waits(stage)
    await decide(stage)
    while (await waits(stage)).ask != 2:
        await asyncio.sleep(0.05)
    assert tools.calls == []
    (asked,) = await pending_approvals(stage.store, RUN)
    assert asked.request.arguments == {"order": "o-1"}


@staged
async def test_an_approval_is_for_the_skill_that_was_asked_for(stage: Stage) -> None:
    """The same call, which another skill of the Task may make too, asks for itself."""
    await begin(stage, calls=[(PAY, VALUE)])
    document = await waits(stage)
    await decide(stage)
    await stage.end()
    record = dict(document.approval or {})
    asked = ApprovalRequest.from_document(record["request"])
    told = {"decision": "approve", "by": "operator", "reason": "", "digest": asked.digest}
    later = SimpleNamespace(
        approval=record, decision={**told, "at": 1, "ask": 1}, calls=None, ttl_ms=1_000
    )
    ledger = LeaseLedger(stage.store, later, [])  # type: ignore[arg-type]
    decision = Decision(
        "ask", "approval.required", "", "bank", "pay", asked.digest, asked.skills, "high"
    )
    assert ledger.approved(decision) == "approved by operator"
    assert ledger.approved(replace(decision, skills=("skill.other@1.0.0",))) is None


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
@staged
async def test_what_ends_the_process_is_not_taken_for_a_question(
    ending: type[BaseException], stage: Stage
) -> None:
    class Ends(Script):
        async def perform(self, assignment: Assignment, call_tool: Any, observe: Any) -> Report:
            with suppress(ApprovalRequired):
                await super().perform(assignment, call_tool, observe)
            raise ending

    agents = SkilledAgents(CATALOG, Tools(), Ends((PAY, VALUE)), stage.store)  # type: ignore[arg-type]
    document = document_of(flow(A=bound()), catalog=CATALOG)
    await submit(stage.store, document, VALUE, workflow_id=RUN, catalog=CATALOG)
    lease = await stage.store.acquire(RUN, "A", owner="x")
    assert isinstance(lease, Lease)
    run = await RunCache(stage.store).get(RUN, lease.incarnation)
    task = Task(run, lease, run.machine.states["A"], VALUE)
    try:
        await agents.perform(task, lambda: None)
    except BaseException as error:
        assert type(error) is ending
    else:
        pytest.fail("it was swallowed")


@staged
async def test_a_rejection_is_an_error_that_catch_can_match(stage: Stage) -> None:
    catcher = {"ErrorEquals": ["DCF.ApprovalRejected"], "Next": "B", "ResultPath": "$.error"}
    tools = await begin(stage, flow(A=bound(Catch=[catcher]), B=passing()))
    await waits(stage)
    await decide(stage, "reject", reason="too much")
    result = await stage.end()
    assert result.output["error"]["Error"] == "DCF.ApprovalRejected"
    assert "rejected by operator: too much" in result.output["error"]["Cause"]
    assert [call["tool"] for call in tools.calls] == ["web.look"]


@staged
async def test_a_new_try_asks_anew(stage: Stage) -> None:
    policy = retry("DCF.ApprovalRejected", MaxAttempts=1)
    tools = await begin(stage, flow(A=bound(**policy)))
    await waits(stage)
    await decide(stage, "reject")
    while (await waits(stage)).try_ != 2:
        await asyncio.sleep(0.05)
    await decide(stage)
    assert (await stage.end()).status == "succeeded"
    assert keys(tools) == [
        "web.look run-1/A/1/1/0", "web.look run-1/A/1/2/0", "bank.pay run-1/A/1/2/1",
    ]  # fmt: skip


@staged
async def test_a_worker_that_dies_after_the_decision_is_taken_over_with_it(stage: Stage) -> None:
    release = asyncio.Event()

    class Hanging(Script):
        async def perform(self, assignment: Assignment, call_tool: Any, observe: Any) -> Report:
            if self.begun == 1:
                self.begun += 1
                await release.wait()
            return await super().perform(assignment, call_tool, observe)

    tools = await begin(stage, runtime=Hanging(*PLAIN))
    await waits(stage)
    await decide(stage)
    while (await stage.state("A")).status != "running":
        await asyncio.sleep(0.05)
    (only,) = list(stage._tasks)
    await stage.kill(only)
    agents = SkilledAgents(CATALOG, tools, Script(*PLAIN), stage.store)  # type: ignore[arg-type]
    stage.worker(agents=agents, name="other")
    assert (await stage.end()).status == "succeeded"
    assert keys(tools) == ["web.look run-1/A/1/1/0", "bank.pay run-1/A/1/1/1"]


@staged
async def test_the_turn_loop_lets_the_question_through(stage: Stage) -> None:
    runtime = LocalRuntime()
    # Before virtual time begins to run: it takes a thread.
    runtime._loop = runtime._load()
    tools = await begin(stage, runtime=runtime)
    await waits(stage)
    assert [call["tool"] for call in tools.calls] == ["web.look"]
    await decide(stage)
    while (await waits(stage)).ask != 2:
        await asyncio.sleep(0.05)
    await decide(stage)
    result = await stage.end()
    assert result.status == "succeeded", result
    assert [call["tool"] for call in tools.calls] == ["web.look", "bank.pay", "bank.refund"]
    metrics = (await stage.state("A")).metrics
    assert metrics is not None
    assert (metrics["tool_calls"], metrics["llm_calls"]) == (3, 0)


@staged
async def test_a_runtime_that_swallows_the_question_is_stopped_all_the_same(stage: Stage) -> None:
    class Swallowing(Script):
        async def perform(self, _assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
            for tool, arguments in self._calls:
                try:
                    await call_tool(tool, arguments)
                except BaseException:
                    continue
            return Report(data="I did it all", summary="")

    tools = await begin(stage, runtime=Swallowing((PAY, VALUE), (LOOK, VALUE)))
    await waits(stage)
    assert tools.calls == []
