"""Approvals: work stops before the call, a person decides, and the same try goes on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from unit.worker.test_worker_agent_tasks import Tools, a_skill
from unit.workflow.stage import Stage, document_of, flow, passing, retry, staged

from control_plane import APPROVALS, Lease, StateDocument, history
from dcf.agents import AgentRuntime, Assignment, LocalRuntime, Report, TaskError
from dcf.skills import Manifest, Permissions, SkillCatalog, SkillTool
from dcf.tools import ApprovalRequest, ApprovalRequired, Decision, Policy, ToolsError
from dcf.worker import SkilledAgents
from dcf.worker.lease_ledger import LeaseLedger
from dcf.workflow import (
    ApprovalSettled,
    NoApprovalPending,
    NotAnApprover,
    RunCache,
    SeveralPending,
    Task,
    decide_approval,
    explain,
    pending_approvals,
    redrive,
    submit,
)

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
LOOK = SkillTool("web", "look", "look", "", True, SCHEMA)
PAY = SkillTool("bank", "pay", "pay", "", True, SCHEMA)
PAY_2 = SkillTool("bank", "refund", "refund", "", True, SCHEMA)
RUN = "run-1"


def risky(*tools: SkillTool, risk: str = "high") -> Manifest:
    from dataclasses import replace

    return replace(a_skill("pay", *tools), permissions=Permissions(risk_level=risk))


CATALOG = SkillCatalog([a_skill("look", LOOK), risky(PAY, PAY_2)])
VALUE = {"order": "o-1"}


class Script:
    """An agent that makes the same calls each time; what it got back is its result."""

    def __init__(self, *calls: tuple[SkillTool, dict[str, Any]]) -> None:
        self._calls = calls
        self.begun = 0

    async def perform(self, _assignment: Assignment, call_tool: Any, _observe: Any) -> Report:
        self.begun += 1
        got = []
        for tool, arguments in self._calls:
            try:
                got.append((await call_tool(tool, arguments)).data)
            except ToolsError as error:
                raise TaskError(error.code, str(error)) from error
        return Report(data=got, summary="done", metrics={"llm_calls": 1})


PLAIN = [(LOOK, VALUE), (PAY, VALUE)]


def bound(**more: Any) -> dict[str, Any]:
    names = {"agent_template_ref": {"name": "any"}, "skills": ["look", "pay"]}
    binding = {**names, **more.pop("binding", {})}
    return {"Type": "Task", "AgentBinding": binding, **more}


async def begin(
    stage: Stage,
    definition: dict[str, Any] | None = None,
    *,
    calls: Sequence[tuple[SkillTool, dict[str, Any]]] = tuple(PLAIN),
    runtime: AgentRuntime | None = None,
    policy: Policy | None = None,
    workers: int = 1,
) -> Tools:
    """Start a run on ``workers``; its toolbox."""
    tools = Tools()
    for number in range(workers):
        agents = SkilledAgents(
            CATALOG,
            tools,  # type: ignore[arg-type]
            runtime or Script(*calls),
            stage.store,
            policy=policy,
        )
        stage.worker(agents=agents, name=f"w{number}")
    document = document_of(definition or flow(A=bound()), catalog=CATALOG)
    await submit(stage.store, document, VALUE, workflow_id=RUN, catalog=CATALOG)
    return tools


async def waits(stage: Stage, path: str = "A") -> StateDocument:
    """The state, once it waits for approval."""
    async with asyncio.timeout(60):
        while True:
            found = (await stage.store.states(RUN, [path])).get(path)
            if found is not None and found.status == "waiting" and found.wait == "approval":
                return found
            await asyncio.sleep(0.05)


async def decide(stage: Stage, decision: Any = "approve", **more: Any) -> None:
    await decide_approval(stage.store, RUN, decision=decision, **{"by": "operator", **more})


async def told(stage: Stage, *types: str) -> list[dict[str, Any]]:
    events = [event.event async for event in history.read(stage.store, RUN)]
    return [event for event in events if event["type"] in types]


def keys(tools: Tools) -> list[str]:
    return [f"{call['tool']} {call['idempotency_key']}" for call in tools.calls]


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


CHAIN = Policy.from_document(
    {
        "apiVersion": "policy/v1",
        "kind": "ToolPolicy",
        "approvers": {
            "lead": {"kind": "person", "people": ["ada", "grace"], "timeout_s": 60},
            "boss": {"kind": "person", "people": ["alan"], "timeout_s": 120},
        },
        "rules": [{"tools": ["bank:*"], "approvers": ["lead", "boss"]}],
    }
)


@staged
async def test_silence_is_passed_up_the_chain_and_never_approves(stage: Stage) -> None:
    tools = await begin(stage, policy=CHAIN)
    first = await waits(stage)
    with pytest.raises(NotAnApprover) as refused:
        await decide(stage, by="alan")
    assert refused.value.people == ["ada", "grace"]
    while (await waits(stage)).ask == first.ask:
        await asyncio.sleep(1)
    (asked,) = await pending_approvals(stage.store, RUN)
    assert (asked.request.approver, asked.asked) == ("boss", ("lead",))
    assert asked.calls_made == 1
    with pytest.raises(NotAnApprover):
        await decide(stage, by="ada")
    result = await stage.end()
    assert result.failure is not None
    assert result.failure.error == "DCF.ApprovalRejected"
    assert "nobody answered in time (asked: lead, then boss)" in (result.failure.cause or "")
    assert [call["tool"] for call in tools.calls] == ["web.look"]
    kinds = [event["type"] for event in await told(stage, "ApprovalRequested", "ApprovalEscalated")]
    assert kinds == ["ApprovalRequested", "ApprovalEscalated"]


@staged
async def test_the_next_of_the_chain_can_approve(stage: Stage) -> None:
    tools = await begin(stage, policy=CHAIN)
    first = await waits(stage)
    while (await waits(stage)).ask == first.ask:
        await asyncio.sleep(1)
    await decide(stage, by="alan")
    assert (await stage.end()).status == "succeeded"
    assert [call["tool"] for call in tools.calls] == ["web.look", "bank.pay"]


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
async def test_the_history_tells_who_was_asked_and_who_decided(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    await decide(stage, reason="it is due")
    await stage.end()
    kinds = ("ToolDecision", "ApprovalRequested", "ApprovalDecided")
    events = await told(stage, *kinds)
    assert [(event["type"], event.get("verdict")) for event in events] == [
        ("ToolDecision", "allow"),
        ("ToolDecision", "ask"),
        ("ApprovalRequested", None),
        ("ApprovalDecided", None),
        ("ToolDecision", "allow"),
    ]
    assert events[3]["by"] == "operator"
    assert events[3]["reason"] == "it is due"
    assert events[4]["rule"] == "approval.granted"
    assert {event["digest"] for event in events[2:4]} == {events[4]["arguments"]}


@staged
async def test_of_many_answers_one_counts(stage: Stage) -> None:
    tools = await begin(stage)
    await waits(stage)

    async def answer(decision: str) -> str | None:
        try:
            await decide(stage, decision)
        except (ApprovalSettled, NoApprovalPending):
            return None
        return decision

    given = await asyncio.gather(*(answer(d) for d in ("approve", "reject") * 5))
    (counted,) = [decision for decision in given if decision]
    result = await stage.end()
    assert (result.status == "succeeded") == (counted == "approve")
    assert len(tools.calls) == (2 if counted == "approve" else 1)
    with pytest.raises(NoApprovalPending):
        await decide(stage)


@staged
async def test_a_run_that_is_cancelled_waits_for_nobody(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    await stage.store.cancel(RUN, by="x")
    assert await pending_approvals(stage.store, RUN) == []
    with pytest.raises(NoApprovalPending):
        await decide(stage)
    await stage.end()
    await redrive(stage.store, RUN)
    assert (await waits(stage)).visit == 2
    await decide(stage)
    assert (await stage.end()).status == "succeeded"


@staged
async def test_explain_says_who_is_asked_and_what_decides_it(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    found = await explain(stage.store, RUN)
    assert "approval pending: operator was asked" in found.summary
    assert "bank:pay" in found.summary
    command = found.reasons[0].command
    assert re.fullmatch(r"dcf approve run-1 A --as operator --digest sha256:[0-9a-f]{64}", command)


@staged
async def test_the_index_lists_all_runs_and_forgets_what_does_not_wait(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    await stage.store.backend.command("ZADD", APPROVALS, 1, "agent\tscout\tq1")
    await stage.store.backend.command("ZADD", APPROVALS, 1, "gone\tA")
    (asked,) = await pending_approvals(stage.store)
    assert asked.workflow_id == RUN
    assert await stage.store.backend.command("ZRANGE", APPROVALS, 0, -1) == [
        "agent\tscout\tq1", f"{RUN}\tA",
    ]  # fmt: skip
    await decide(stage)
    assert await pending_approvals(stage.store) == []
    assert await stage.store.backend.command("ZRANGE", APPROVALS, 0, -1) == ["agent\tscout\tq1"]


@staged
async def test_branches_ask_independently_and_one_has_to_be_named(stage: Stage) -> None:
    branch, other = flow(A=bound()), flow(B=bound())
    definition = flow(P={"Type": "Parallel", "Branches": [branch, other]})
    tools = await begin(stage, definition)
    await waits(stage, "P[0]/A")
    await waits(stage, "P[1]/B")
    with pytest.raises(SeveralPending) as several:
        await decide(stage)
    assert several.value.paths == ["P[0]/A", "P[1]/B"]
    await decide(stage, path="P[1]/B")
    await decide(stage, path="P[0]/A")
    assert (await stage.end()).status == "succeeded"
    assert [call["tool"] for call in tools.calls].count("bank.pay") == 2


@staged
async def test_a_branch_that_was_given_up_waits_for_nobody(stage: Stage) -> None:
    definition = flow(
        P={"Type": "Parallel", "Branches": [flow(A=bound()), flow(F={"Type": "Fail"})],
           "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "W"}]},
        W={"Type": "Wait", "Seconds": 100},
    )  # fmt: skip
    await begin(stage, definition)
    await asyncio.sleep(20)
    assert await pending_approvals(stage.store, RUN) == []


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
