"""The way of a call: recalled, decided, noted, made, limited, settled."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import Any, cast

import pytest
from gate_samples import SCHEMA, MemoryLedger, gate, grant, pin

from dcf.tools import (
    ApprovalRejected,
    ApprovalRequired,
    BudgetExhausted,
    Call,
    Decision,
    Dispatcher,
    Gate,
    PermissionDenied,
    ResultLimits,
    Toolbox,
    ToolDescription,
    ToolResult,
    ToolResultTooLarge,
    ToolUnavailable,
)


class Box:
    """Stands in for a toolbox: answers with ``result`` and remembers how it was called."""

    def __init__(self, result: ToolResult | Exception, live: ToolDescription | None = None) -> None:
        self.result = result
        self.live = live
        self.calls: list[dict[str, Any]] = []
        self.described = 0

    async def call(
        self, server: str, tool: str, arguments: dict[str, Any], **how: Any
    ) -> ToolResult:
        self.calls.append({"tool": f"{server}:{tool}", "arguments": arguments, **how})
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    async def describe(self, *_: Any, **__: Any) -> ToolDescription | None:
        self.described += 1
        return self.live


OK = ToolResult({"done": True}, '{"done": true}')


def dispatcher(held: Gate, box: Box, ledger: MemoryLedger, **more: Any) -> Dispatcher:
    return Dispatcher(held, cast(Toolbox, box), ledger, **more)


@pytest.mark.parametrize(
    ("answer", "failures"),
    [
        (OK, []),
        (ToolResult(None, "no", is_error=True, error="CardDeclined"), ["CardDeclined"]),
        (ToolUnavailable("local", "http://x", "gone"), ["DCF.ToolUnavailable"]),
    ],
)
async def test_what_a_call_failed_with_is_put_on_record(
    answer: ToolResult | Exception, failures: list[str]
) -> None:
    ledger = MemoryLedger()
    made = dispatcher(gate(grant("local:pay")), Box(answer), ledger)
    with suppress(ToolUnavailable):
        await pay(made)
    assert ledger.failures == [("local:pay", error) for error in failures]


async def pay(made: Dispatcher, amount: int = 1, server: str = "local") -> ToolResult:
    return await made.call(server, "pay", {"amount": amount}, timeout_s=5)


async def test_a_call_that_may_pass_is_noted_made_with_its_key_and_settled() -> None:
    box, ledger = Box(OK), MemoryLedger()
    made = dispatcher(gate(grant("local:pay", idempotent=True)), box, ledger)
    assert await pay(made) == OK
    assert await pay(made, 2) == OK
    assert [decision.verdict for decision in ledger.noted] == ["allow", "allow"]
    assert box.calls[1] == {
        "tool": "local:pay",
        "arguments": {"amount": 2},
        "idempotency_key": "wf/Pay/1/1/1",
        "fence": 7,
        "timeout_s": 5,
        "idempotent": True,
    }
    digests = [Call("local", "pay", {"amount": amount}).digest for amount in (1, 2)]
    assert ledger.settled == [(0, digests[0], OK), (1, digests[1], OK)]
    assert made.made == 2


async def test_a_refused_call_is_noted_reaches_nobody_and_takes_no_number() -> None:
    box, ledger = Box(OK), MemoryLedger()
    made = dispatcher(gate(grant("local:pay")), box, ledger)
    with pytest.raises(PermissionDenied) as denied:
        await made.call("local", "delete", {}, timeout_s=5)
    assert denied.value.rule == "tool.undeclared"
    assert denied.value.allowed == ("local:pay (skill.pay@1.0.0)",)
    assert [decision.rule for decision in ledger.noted] == ["tool.undeclared"]
    assert (box.calls, ledger.settled) == ([], [])
    await pay(made)
    assert box.calls[0]["idempotency_key"] == "wf/Pay/1/1/0"


async def test_a_call_of_high_risk_stops_the_work_with_the_request() -> None:
    box, ledger = Box(OK), MemoryLedger()
    made = dispatcher(gate(grant("local:pay", risk="high")), box, ledger)
    with pytest.raises(ApprovalRequired) as stopped:
        await pay(made)
    assert not isinstance(stopped.value, Exception)
    assert stopped.value.request.digest == Call("local", "pay", {"amount": 1}).digest
    assert [decision.verdict for decision in ledger.noted] == ["ask"]
    assert box.calls == []


async def test_an_approval_lets_exactly_the_approved_call_pass() -> None:
    box, ledger = Box(OK), MemoryLedger()
    ledger.approvals[Call("local", "pay", {"amount": 1}).digest] = "approved by ana: fine"
    made = dispatcher(gate(grant("local:pay", risk="high")), box, ledger)
    assert await pay(made) == OK
    assert ledger.noted[0].rule == "approval.granted"
    assert ledger.noted[0].reason == "approved by ana: fine"
    with pytest.raises(ApprovalRequired):
        await pay(made, 2)


async def test_an_approval_does_not_help_a_call_that_is_denied() -> None:
    ledger = MemoryLedger()
    ledger.approvals[Call("outside", "pay", {"amount": 1}).digest] = "approved"
    made = dispatcher(gate(grant("outside:pay", risk="high")), Box(OK), ledger)
    with pytest.raises(PermissionDenied):
        await pay(made, server="outside")


async def test_a_rule_that_rejects_is_an_error_of_its_own() -> None:
    case = {"when": [{"pointer": "/amount", "exists": True}], "decision": "reject"}
    policy = {
        "approvers": {"r": {"kind": "rule", "cases": [case]}},
        "rules": [{"approvers": ["r"]}],
    }
    made = dispatcher(gate(grant("local:pay"), policy=policy), Box(OK), MemoryLedger())
    with pytest.raises(ApprovalRejected, match="r rejects"):
        await pay(made)


async def test_an_answer_from_the_journal_is_given_without_a_call_and_without_a_number() -> None:
    box, ledger = Box(OK), MemoryLedger()
    ledger.number = 1
    before = ToolResult("before", "before")
    ledger.journal[Call("local", "pay", {"amount": 1}).digest] = [before]
    made = dispatcher(gate(grant("local:pay")), box, ledger)
    assert await pay(made) == before
    assert (ledger.noted, made.made) == ([], 0)
    await pay(made)
    assert box.calls[0]["idempotency_key"] == "wf/Pay/1/1/1"


async def test_what_the_ledger_refuses_is_not_called() -> None:
    box = Box(OK)
    spent = BudgetExhausted(Decision("deny", "budget.tool_calls", "spent", "local", "pay"))
    made = dispatcher(gate(grant("local:pay")), box, MemoryLedger(spent))
    with pytest.raises(BudgetExhausted, match="local:pay is denied: spent"):
        await pay(made)
    assert box.calls == []


async def test_a_call_without_an_answer_is_not_settled() -> None:
    ledger = MemoryLedger()
    lost = ToolUnavailable("local", "http://h", "gone")
    with pytest.raises(ToolUnavailable):
        await pay(dispatcher(gate(grant("local:pay")), Box(lost), ledger))
    assert (len(ledger.noted), ledger.settled) == (1, [])


async def test_a_pinned_tool_is_compared_with_what_its_server_lists_before_the_call() -> None:
    live = ToolDescription("pay", "", {**SCHEMA, "required": []}, None)
    box, ledger = Box(OK, live), MemoryLedger()
    held = gate(grant("local:pay"), pins={"local:pay": pin(SCHEMA)})
    with pytest.raises(PermissionDenied, match="schema of the tool has changed") as denied:
        await pay(dispatcher(held, box, ledger))
    assert denied.value.rule == "schema.changed"
    assert ledger.noted[0].details == denied.value.details
    assert any("amount" in line and line.startswith("-") for line in denied.value.details)
    assert box.calls == []


async def test_a_server_that_dropped_a_locked_tool_is_not_called() -> None:
    held = gate(grant("local:pay"), pins={"local:pay": pin(SCHEMA)})
    with pytest.raises(PermissionDenied) as denied:
        await pay(dispatcher(held, Box(OK, None), MemoryLedger()))
    assert denied.value.rule == "schema.gone"


async def test_a_call_that_is_denied_anyway_does_not_ask_the_server() -> None:
    box = Box(OK)
    held = gate(grant("outside:pay"), pins={"outside:pay": pin(SCHEMA)})
    with pytest.raises(PermissionDenied):
        await pay(dispatcher(held, box, MemoryLedger()), server="outside")
    assert box.described == 0


LARGE = ToolResult({"text": "é" * 600}, json.dumps({"text": "é" * 600}, ensure_ascii=False))


async def test_a_large_result_is_kept_and_referred_to() -> None:
    kept: list[bytes] = []

    async def keep(content: bytes) -> str:
        kept.append(content)
        return "blob:1"

    ledger = MemoryLedger()
    limits = ResultLimits(inline_bytes=1000)
    made = dispatcher(gate(grant("local:pay")), Box(LARGE), ledger, limits=limits, keep=keep)
    result = await pay(made)
    assert json.loads(kept[0]) == LARGE.data
    assert result.data == {
        "$ref": "blob:1",
        "size": len(kept[0]),
        "digest": "sha256:" + hashlib.sha256(kept[0]).hexdigest(),
        "preview": LARGE.text[:1000],
    }
    assert result.text == LARGE.text[:1000]
    assert ledger.settled[0][2] == result


async def test_a_large_result_that_nobody_keeps_or_that_is_far_too_large_is_a_lasting_error() -> (
    None
):
    async def keep(_content: bytes) -> str:
        raise AssertionError("must not be kept")

    limits = ResultLimits(inline_bytes=100, hard_bytes=200)
    for keeper in (None, keep):
        made = dispatcher(
            gate(grant("local:pay")), Box(LARGE), MemoryLedger(), limits=limits, keep=keeper
        )
        with pytest.raises(ToolResultTooLarge) as large:
            await pay(made)
        assert large.value.code == "DCF.ToolResultTooLarge"


async def test_half_a_surrogate_pair_in_a_result_is_no_reason_to_fail() -> None:
    made = dispatcher(gate(grant("local:pay")), Box(ToolResult("\ud800", "\ud800")), MemoryLedger())
    assert (await pay(made)).data == "\ud800"
