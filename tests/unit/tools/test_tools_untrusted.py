"""What an untrusted skill says of itself grants nothing: a person decides, who sees its claims."""

from __future__ import annotations

from typing import Any

import pytest
from unit.tools.gate_samples import SCHEMA, gate, grant

from dcf.tools import ApprovalRequest, Call, Decision

EVIL = "skill.evil.x@1.0.0"
ALLOW = {"rules": [{"tools": "*:*", "decision": "allow"}]}


def decide(
    tool: str, arguments: dict[str, Any] | None = None, *, policy: Any = None, **more: Any
) -> Decision:
    schemas = more.pop("schemas", {})
    held = gate(grant(tool, EVIL, trusted=False, **more), policy=policy, schemas=schemas)
    server, _, name = tool.partition(":")
    return held.decide(Call(server, name, arguments or {}))


def test_an_allow_rule_does_not_speak_of_it_unless_it_says_so() -> None:
    asked = decide("local:pay", policy=ALLOW)
    assert (asked.verdict, asked.rule) == ("ask", "approval.required")
    open_ = {"rules": [{"tools": "*:*", "decision": "allow", "untrusted": True}]}
    assert decide("local:pay", policy=open_).rule == "policy.allow"
    assert decide("local:pay", policy={**ALLOW, "untrustedSkills": "allow"}).allowed


@pytest.mark.parametrize("chain", [["small"], ["small", "head"]])
def test_a_rule_approver_does_not_decide_alone(chain: list[str]) -> None:
    approvers = {
        "small": {"kind": "rule", "otherwise": "approve"},
        "head": {"kind": "person", "people": ["ana"]},
    }
    rule = {"tools": "local:*", "approvers": chain}
    asked = decide("local:pay", policy={"rules": [rule], "approvers": approvers})
    assert asked.verdict == "ask" and asked.approval is not None
    assert asked.approval.approver == ("head" if "head" in chain else "operator")
    said = {**rule, "untrusted": True}
    assert decide("local:pay", policy={"rules": [said], "approvers": approvers}).allowed


def test_it_reaches_this_machine_only_and_gets_no_secrets() -> None:
    out = decide("outside:get", policy=ALLOW, egress="internet")
    assert (out.verdict, out.rule) == ("deny", "egress.forbidden")
    secret = decide("bank:pay", policy=ALLOW, secrets=("BANK_TOKEN",))
    assert (secret.verdict, secret.rule) == ("deny", "secret.undeclared")


def test_the_schema_of_the_catalog_holds_besides_its_own() -> None:
    schemas = {"local:pay": [SCHEMA]}
    loose = decide("local:pay", {"amount": "all"}, schemas=schemas, input_schema={})
    assert (loose.verdict, loose.rule) == ("deny", "arguments.invalid")
    assert decide("local:pay", {"amount": 1}, schemas=schemas).verdict == "ask"
    tight = {"type": "object", "required": ["why"]}
    own = decide("local:pay", {"amount": 1}, schemas=schemas, input_schema=tight)
    assert own.rule == "arguments.invalid"


def test_the_question_shows_what_it_claims() -> None:
    asked = decide("local:pay", egress="internet", secrets=("KEY",), risk="low").approval
    assert asked is not None
    assert asked.untrusted == "riskLevel low, egress internet, secrets KEY"
    assert "untrusted" in asked.reason and "secrets KEY" in asked.reason
    assert ApprovalRequest.from_document(asked.to_document()) == asked
    trusted = gate(grant("local:pay", risk="high")).decide(Call("local", "pay", {})).approval
    assert trusted is not None and "untrusted" not in trusted.to_document()
