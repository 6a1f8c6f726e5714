"""An agent's calls outside runs: every decision on record, budgets and approvals counted once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loading_samples import AGENT, Time, library, manifest, twin_store

from control_plane import AgentChange, AgentStore, UnknownAgent, read_agent_history
from dcf.agents.loading import (
    AgentLedger,
    ApprovalSettled,
    NoApprovalPending,
    NotAnApprover,
    SeveralPending,
    agent_grants,
    decide_agent_approval,
    load_skill,
    pending_agent_approvals,
)
from dcf.tools import (
    ApprovalRejected,
    ApprovalRequest,
    ApprovalRequired,
    Approver,
    Budget,
    BudgetExhausted,
    Decision,
    Dispatcher,
    Gate,
    PermissionDenied,
    Registry,
    ServerConfig,
    ToolResult,
    ToolTimeout,
)

SERVERS = Registry([ServerConfig("bank", url="http://127.0.0.1:9/mcp")])
SAFE = manifest("safe", "bank:look", egress="internet")
RISKY = manifest("risky", "bank:pay", egress="internet", riskLevel="high")

WHY = "no, password=Tr0ub4dor99 is old"


class Tools:
    """A toolbox that counts; every call has an answer of its own, and takes its time."""

    def __init__(self, time: Time) -> None:
        self.time, self.takes_ms, self.fails = time, 0, False
        self.calls: list[tuple[str, dict[str, Any], str, int]] = []

    async def call(self, server: str, tool: str, arguments: Any, **how: Any) -> ToolResult:
        self.time.ms += self.takes_ms
        if self.fails:
            raise ToolTimeout(server, tool, 1)
        self.calls.append((f"{server}:{tool}", arguments, how["idempotency_key"], how["fence"]))
        return ToolResult({"n": len(self.calls)}, "")


class Desk:
    """An agent with both skills, and pieces of its work."""

    def __init__(self, agents: AgentStore, time: Time) -> None:
        self.agents, self.time, self.tools = agents, time, Tools(time)

    async def open(self, session: str = "s1", **options: Any) -> Dispatcher:
        ledger = await AgentLedger.open(self.agents, AGENT, session=session, **options)
        gate = Gate(await agent_grants(self.agents, AGENT), servers=SERVERS)
        toolbox: Any = self.tools
        return Dispatcher(gate, toolbox, ledger)

    async def events(self, kind: str) -> list[dict[str, Any]]:
        history = read_agent_history(self.agents, AGENT)
        return [entry.event async for entry in history if entry.event["type"] == kind]

    async def member(self, name: str) -> Any:
        agent = await self.agents.get(AGENT)
        assert agent is not None
        return agent.record.get(name)

    async def ask(self, x: int = 1, session: str = "s1") -> None:
        """Try a call that needs an approval."""
        with pytest.raises(ApprovalRequired):
            await call(await self.open(session), "pay", x)


async def call(dispatcher: Dispatcher, tool: str, x: int = 1) -> Any:
    return (await dispatcher.call("bank", tool, {"x": x}, timeout_s=5)).data


@pytest.fixture
async def desk() -> Desk:
    time = Time()
    agents = twin_store(time)
    await agents.create(AGENT, "Ann")
    for name in ("safe", "risky"):
        await load_skill(agents, library(SAFE, RISKY), AGENT, name)
    return Desk(agents, time)


async def test_every_decision_is_on_record_with_its_reason(desk: Desk) -> None:
    dispatcher = await desk.open()
    await call(dispatcher, "look")
    with pytest.raises(PermissionDenied):
        await call(dispatcher, "steal")
    said = await desk.events("ToolDecision")
    assert [(e["tool"], e["verdict"], e["session"]) for e in said] == [
        ("bank:look", "allow", "s1"),
        ("bank:steal", "deny", "s1"),
    ]
    assert all(event["reason"] and "x" not in event for event in said)
    assert await desk.member("usage") == {"tool_calls": 1, "wall_time_ms": 0}


async def test_keys_are_numbered_in_the_session_and_the_fence_grows(desk: Desk) -> None:
    first = await desk.open("s1")
    await call(first, "look")
    await call(first, "look")
    await call(await desk.open("s2"), "look")
    keys = [key for _, _, key, _ in desk.tools.calls]
    assert keys == [f"agent/{AGENT}/s1/0", f"agent/{AGENT}/s1/1", f"agent/{AGENT}/s2/0"]
    fences = [fence for *_, fence in desk.tools.calls]
    assert fences == sorted(set(fences))


async def test_a_budget_of_calls_holds_over_sessions_and_at_the_same_time(desk: Desk) -> None:
    opened = [await desk.open(f"s{n}", budget=Budget(tool_calls=5)) for n in range(4)]
    made = await asyncio.gather(
        *(call(dispatcher, "look", n) for n in range(3) for dispatcher in opened),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, dict) for answer in made) == 5
    assert sum(isinstance(answer, BudgetExhausted) for answer in made) == 7
    assert len(desk.tools.calls) == 5
    denied = [e for e in await desk.events("ToolDecision") if e["verdict"] == "deny"]
    assert {event["rule"] for event in denied} == {"budget.tool_calls"}
    assert len(denied) == 7


async def test_the_budget_in_the_record_and_that_of_the_policy_both_hold(desk: Desk) -> None:
    await desk.agents.update(
        AGENT, lambda _: AgentChange([{"type": "BudgetSet"}], {"budget": {"tool_calls": 1}})
    )
    dispatcher = await desk.open(budget=Budget(tool_calls=9))
    await call(dispatcher, "look")
    with pytest.raises(BudgetExhausted, match="1 of 1 tool calls"):
        await call(dispatcher, "look")


async def test_time_at_work_is_counted_and_time_away_is_not(desk: Desk) -> None:
    budget = Budget(wall_time_s=10)
    first = await desk.open("s1", budget=budget)
    desk.time.ms += 6_000
    await call(first, "look")
    desk.time.ms += 3_600_000
    second = await desk.open("s2", budget=budget)
    await call(second, "look")
    desk.time.ms += 4_000
    with pytest.raises(BudgetExhausted, match="10 of 10 seconds"):
        await call(second, "look")


async def test_the_time_of_a_call_counts_when_it_ends_and_of_a_failed_one_when_the_work_does(
    desk: Desk,
) -> None:
    desk.tools.takes_ms = 3_000
    ledger = await AgentLedger.open(desk.agents, AGENT, session="s1")
    gate = Gate(await agent_grants(desk.agents, AGENT), servers=SERVERS)
    toolbox: Any = desk.tools
    dispatcher = Dispatcher(gate, toolbox, ledger)
    await call(dispatcher, "look")
    assert await desk.member("usage") == {"tool_calls": 1, "wall_time_ms": 3_000}
    desk.tools.fails = True
    with pytest.raises(ToolTimeout):
        await call(dispatcher, "look")
    await ledger.close()
    assert await desk.member("usage") == {"tool_calls": 2, "wall_time_ms": 6_000}
    agent = await desk.agents.get(AGENT)
    assert agent is not None
    await desk.agents.delete(agent)
    desk.time.ms += 1
    await ledger.close()


async def test_an_approved_call_is_made_once_and_what_came_before_it_is_recalled(
    desk: Desk,
) -> None:
    dispatcher = await desk.open()
    assert await call(dispatcher, "look") == {"n": 1}
    with pytest.raises(ApprovalRequired):
        await call(dispatcher, "pay", 7)
    [waiting] = await pending_agent_approvals(desk.agents)
    assert (waiting.agent_id, waiting.request.approver) == (AGENT, "operator")
    assert waiting.request.arguments == {"x": 7}
    decided = await decide_agent_approval(
        desk.agents, AGENT, decision="approve", by="operator", reason="it is due"
    )
    assert decided.id == waiting.id
    assert await pending_agent_approvals(desk.agents, AGENT) == []

    again = await desk.open()
    assert await call(again, "look") == {"n": 1}
    assert await call(again, "pay", 7) == {"n": 2}
    with pytest.raises(ApprovalRequired):
        await call(again, "pay", 7)
    assert [key for *_, key, _ in desk.tools.calls] == [f"agent/{AGENT}/s1/{n}" for n in (0, 1)]
    granted = [e for e in await desk.events("ToolDecision") if e["rule"] == "approval.granted"]
    assert [event["reason"] for event in granted] == ["approved by operator: it is due"]
    [answer] = await desk.events("ApprovalDecided")
    assert (answer["decision"], answer["by"], answer["reason"]) == (
        "approve",
        "operator",
        "it is due",
    )
    assert len(await desk.events("ApprovalRequested")) == 2


async def test_an_approval_is_for_this_very_call(desk: Desk) -> None:
    await desk.ask(7)
    await decide_agent_approval(desk.agents, AGENT, decision="approve", by="operator")
    await desk.ask(8)


async def test_two_that_take_the_same_approval_make_one_call(desk: Desk) -> None:
    await desk.ask(7)
    await decide_agent_approval(desk.agents, AGENT, decision="approve", by="operator")
    first, second = await desk.open(), await desk.open()
    made = await asyncio.gather(
        call(first, "pay", 7), call(second, "pay", 7), return_exceptions=True
    )
    assert sum(isinstance(answer, dict) for answer in made) == 1
    assert sum(isinstance(answer, ApprovalRejected) for answer in made) == 1
    assert len(desk.tools.calls) == 1


async def test_each_session_asks_for_itself_and_uses_its_own_answer(desk: Desk) -> None:
    first = await desk.open("s1")
    await call(first, "look")
    with pytest.raises(ApprovalRequired):
        await call(first, "pay", 7)
    await desk.ask(7, session="s2")
    one, other = await pending_agent_approvals(desk.agents)
    await decide_agent_approval(desk.agents, AGENT, one.id, decision="approve", by="operator")
    await desk.ask(7, session="s2")
    await decide_agent_approval(desk.agents, AGENT, other.id, decision="approve", by="operator")
    await call(await desk.open("s2"), "pay", 7)
    again = await desk.open("s1")
    assert await call(again, "look") == {"n": 1}
    await call(again, "pay", 7)
    paid = [key for tool, _, key, _ in desk.tools.calls if tool == "bank:pay"]
    assert paid == [f"agent/{AGENT}/s2/0", f"agent/{AGENT}/s1/1"]


async def test_the_same_question_is_put_once(desk: Desk) -> None:
    await desk.ask(7)
    await desk.ask(7)
    assert len(await pending_agent_approvals(desk.agents, AGENT)) == 1


async def test_a_rejection_is_told_to_the_work_and_then_the_question_may_be_put_again(
    desk: Desk,
) -> None:
    await desk.ask(7)
    await decide_agent_approval(desk.agents, AGENT, decision="reject", by="operator", reason=WHY)
    with pytest.raises(ApprovalRejected, match=r"rejected by operator: no, password=\[redacted"):
        await call(await desk.open(), "pay", 7)
    await desk.ask(7)
    assert desk.tools.calls == []


async def test_nobody_who_is_not_asked_decides_and_nothing_is_decided_twice(desk: Desk) -> None:
    with pytest.raises(NoApprovalPending):
        await decide_agent_approval(desk.agents, AGENT, decision="approve", by="operator")
    for x in (1, 2):
        await desk.ask(x)
    first, second = await pending_agent_approvals(desk.agents, AGENT)
    with pytest.raises(SeveralPending) as several:
        await decide_agent_approval(desk.agents, AGENT, decision="approve", by="operator")
    assert set(several.value.ids) == {first.id, second.id}
    with pytest.raises(NotAnApprover, match="operator may decide"):
        await decide_agent_approval(desk.agents, AGENT, first.id, decision="approve", by="Kim")
    await decide_agent_approval(desk.agents, AGENT, first.id, decision="reject", by="operator")
    with pytest.raises(ApprovalSettled):
        await decide_agent_approval(desk.agents, AGENT, first.id, decision="approve", by="operator")
    assert [one.id for one in await pending_agent_approvals(desk.agents)] == [second.id]
    with pytest.raises(UnknownAgent):
        await decide_agent_approval(desk.agents, "nobody", decision="approve", by="operator")


def question(**more: Any) -> Decision:
    asked = ApprovalRequest(
        server_id="bank",
        tool_name="pay",
        arguments={"x": 1},
        digest="sha256:" + "a" * 64,
        skills=("skill.risky@1.0.0",),
        risk="high",
        reason="it is risky",
        **more,
    )
    return Decision(
        verdict="ask",
        rule="approval.required",
        reason="it is risky",
        server_id="bank",
        tool_name="pay",
        digest=asked.digest,
        skills=asked.skills,
        risk="high",
        approval=asked,
    )


async def test_without_an_answer_the_next_is_asked_and_after_the_last_it_is_rejected(
    desk: Desk,
) -> None:
    chain = (Approver("lead", ("Lea",), 20.0),)
    ledger = await AgentLedger.open(desk.agents, AGENT, session="s1")
    await ledger.note(question(approver="team", people=("Tom",), timeout_s=10.0, chain=chain))
    with pytest.raises(NotAnApprover, match="Tom"):
        await decide_agent_approval(desk.agents, AGENT, decision="approve", by="Lea")
    desk.time.ms += 10_000
    [waiting] = await pending_agent_approvals(desk.agents)
    assert (waiting.request.approver, waiting.until) == ("lead", desk.time.ms + 20_000)
    with pytest.raises(NotAnApprover, match="Lea"):
        await decide_agent_approval(desk.agents, AGENT, decision="approve", by="Tom")
    desk.time.ms += 20_000
    with pytest.raises(NoApprovalPending):
        await decide_agent_approval(desk.agents, AGENT, decision="approve", by="Lea")
    assert await desk.agents.backend.command("EXISTS", "cp:approvals") == 0
    [answer] = await desk.events("ApprovalDecided")
    assert (answer["decision"], answer["reason"]) == ("reject", "nobody answered in time")


async def test_the_work_is_told_that_nobody_answered_in_time(desk: Desk) -> None:
    await desk.ask(7)
    desk.time.ms += 24 * 3600 * 1000
    with pytest.raises(ApprovalRejected, match="nobody answered in time"):
        await call(await desk.open(), "pay", 7)
    assert await desk.agents.backend.command("EXISTS", "cp:approvals") == 0
    await desk.ask(7)
    assert len(await pending_agent_approvals(desk.agents)) == 1


async def test_a_question_without_a_time_limit_waits(desk: Desk) -> None:
    ledger = await AgentLedger.open(desk.agents, AGENT, session="s1")
    await ledger.note(question(approver="team", people=("Tom",), timeout_s=None))
    desk.time.ms += 10**11
    [waiting] = await pending_agent_approvals(desk.agents)
    assert waiting.until is None


async def test_who_works_for_a_deleted_agent_makes_no_call(desk: Desk) -> None:
    dispatcher = await desk.open()
    agent = await desk.agents.get(AGENT)
    assert agent is not None
    await desk.agents.delete(agent)
    await desk.agents.create(AGENT, "Ann")
    with pytest.raises(UnknownAgent):
        await call(dispatcher, "look")
    assert desk.tools.calls == []


async def test_the_list_of_approvals_forgives_members_of_others_and_of_the_gone(
    desk: Desk,
) -> None:
    await desk.ask(7)
    for member in ("run-1\tPay", "agent\tgone\tid", "odd"):
        await desk.agents.backend.command("ZADD", "cp:approvals", 1, member)
    assert [one.agent_id for one in await pending_agent_approvals(desk.agents)] == [AGENT]
    listed = await desk.agents.backend.command("ZRANGE", "cp:approvals", 0, -1)
    assert len(listed) == 3
    assert {"run-1\tPay", "odd"} < set(listed)
