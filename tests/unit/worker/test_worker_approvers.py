"""Approvals: who is asked, in which order, and whose answer counts."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
from unit.worker.approval_samples import RUN, begin, decide, told, waits
from unit.workflow.stage import Stage, staged

from dcf.tools import Policy
from dcf.workflow import (
    ApprovalSettled,
    NoApprovalPending,
    NotAnApprover,
    explain,
    observations_of,
    pending_approvals,
)

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
async def test_what_a_person_refused_is_known_afterwards_and_why_to_people_alone(
    stage: Stage,
) -> None:
    await begin(stage)
    await waits(stage)
    await decide(stage, "reject", reason="CUST-4711 has paid already")
    await stage.end()
    found = await observations_of(stage.store, await stage.store.run(RUN), project="/shop")
    refused = [one for one in found if "person" in one.title]
    assert [(one.type, one.title) for one in refused] == [
        ("decision", "A: a person refused bank:pay")
    ]
    assert not any("may not call" in one.title for one in found), "it is told once"
    (one,) = refused
    assert str(one.origin.citation) == "dcf://run/run-1/state/A"
    assert one.note == "operator: CUST-4711 has paid already"
    assert "4711" not in repr(replace(one, note="")), "no other run is told a reason"


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
async def test_explain_says_who_is_asked_and_what_decides_it(stage: Stage) -> None:
    await begin(stage)
    await waits(stage)
    found = await explain(stage.store, RUN)
    assert "approval pending: operator was asked" in found.summary
    assert "bank:pay" in found.summary
    command = found.reasons[0].command
    seen = r"--digest sha256:[0-9a-f]{64} --question 1\.1\.1"
    assert re.fullmatch(rf"dcf approve run-1 A --as operator {seen}", command)
