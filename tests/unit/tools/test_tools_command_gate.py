"""Commands at the gate: which program, asked by whom, and never twice unasked."""

from __future__ import annotations

from typing import Any, cast

import pytest
from gate_samples import MemoryLedger, gate, grant

from dcf.tools import (
    ApprovalRequired,
    Call,
    CommandInterrupted,
    Dispatcher,
    Gate,
    PermissionDenied,
    Toolbox,
    ToolResult,
)

TOOL = "commands:run_command"
OK = ToolResult({"exit_code": 0}, "")


class Box:
    """Stands in for a toolbox, and remembers what it was called with."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    async def call(self, *_: Any, **how: Any) -> ToolResult:
        self.calls.append(how)
        return OK


def call(*argv: Any) -> Call:
    return Call("commands", "run_command", {"argv": list(argv)})


def held(**more: Any) -> Gate:
    return gate(grant(TOOL, commands=("kubectl", "/opt/bin/tool")), **more)


@pytest.mark.parametrize(
    "argv",
    [
        ["rm", "-rf", "/"],
        ["/usr/bin/kubectl"],
        ["./kubectl"],
        ["kubectl "],
        ["tool"],
        [""],
        [],
        [["kubectl"]],
        ["kubectl", 7],
    ],
)
def test_a_program_that_no_permission_names_is_refused(argv: list[Any]) -> None:
    decision = held().decide(call(*argv))
    assert decision.verdict == "deny"
    assert decision.rule in ("command.undeclared", "arguments.invalid")


def test_every_command_is_asked_for_whatever_the_skill_says_of_its_risk() -> None:
    decision = held().decide(call("kubectl", "get", "pods"))
    assert (decision.verdict, decision.risk) == ("ask", "high")
    assert decision.approval is not None
    assert decision.approval.arguments == {"argv": ["kubectl", "get", "pods"]}
    assert "DESTRUCTIVE" not in decision.approval.reason


def test_the_question_says_that_a_command_destroys_by_what_will_really_run() -> None:
    for argv in (["kubectl", "delete", "pod", "x"], ["kubectl", "delete"]):
        decision = held().decide(call(*argv))
        assert decision.approval is not None
        assert decision.approval.reason.startswith("DESTRUCTIVE")


def test_a_rule_of_the_policy_decides_and_untrusted_skills_run_nothing() -> None:
    rules = {"rules": [{"tools": TOOL, "decision": "allow"}], "untrustedSkills": "ask"}
    assert held(policy=rules).decide(call("kubectl", "get")).verdict == "allow"
    strange = gate(grant(TOOL, commands=("kubectl",), trusted=False), policy=rules)
    assert strange.decide(call("kubectl", "get")).rule == "command.undeclared"


async def test_an_approval_counts_for_these_words_and_the_server_is_told_what_is_permitted() -> (
    None
):
    box, ledger = Box(), MemoryLedger()
    ledger.approvals[call("kubectl", "drain", "a").digest] = "approved by ana"
    made = Dispatcher(held(), cast(Toolbox, box), ledger)
    with pytest.raises(ApprovalRequired):
        await made.call("commands", "run_command", {"argv": ["kubectl", "drain", "b"]}, timeout_s=5)
    with pytest.raises(PermissionDenied):
        await made.call("commands", "run_command", {"argv": ["rm", "b"]}, timeout_s=5)
    assert box.calls == []
    done = {"argv": ["kubectl", "drain", "a"]}
    assert await made.call("commands", "run_command", done, timeout_s=5) == OK
    assert box.calls[0]["programs"] == ("kubectl", "/opt/bin/tool")
    assert box.calls[0]["idempotent"] is False


async def test_a_command_that_another_worker_began_is_not_run_again() -> None:
    box, ledger = Box(), MemoryLedger()
    asked = call("kubectl", "drain", "a")
    ledger.approvals[asked.digest] = "approved by ana"
    ledger.begun_before.add(asked.digest)
    made = Dispatcher(held(), cast(Toolbox, box), ledger)
    with pytest.raises(CommandInterrupted, match="asked again"):
        await made.call("commands", "run_command", dict(asked.arguments), timeout_s=5)
    assert (box.calls, ledger.noted) == ([], [])
