"""Policies: rules, approvers, budgets, and everything that can be wrong with a policy file."""

from __future__ import annotations

import copy
import json
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from gate_samples import gate, grant
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dcf.tools import ApprovalRequest, Budget, Call, Decision, InvalidDocument, Policy
from dcf.tools.gate.budget import denied_by_budget
from dcf.tools.gate.condition import Condition

APPROVERS = {
    "small": {
        "kind": "rule",
        "cases": [
            {"when": [{"pointer": "/amount", "atMost": 100}], "decision": "approve"},
            {
                "when": [{"pointer": "/amount", "moreThan": 9000}],
                "decision": "reject",
                "reason": "too much",
            },
        ],
    },
    "treasurer": {"kind": "person", "people": ["ana", "ben"], "timeout_s": 60},
    "head": {"kind": "person"},
}
EMPTY: dict[str, Any] = {"apiVersion": "policy/v1", "kind": "ToolPolicy"}
POLICY: dict[str, Any] = {
    **EMPTY,
    "rules": [
        {"name": "never", "tools": "*:delete_*", "decision": "deny", "reason": "no deletions"},
        {"skills": ["trusted.*"], "decision": "allow"},
        {"tools": ["local:pay"], "approvers": ["small", "treasurer", "head"]},
        {"risk": ["medium"], "approvers": []},
    ],
    "approvers": APPROVERS,
    "budgets": {"run": {"tool_calls": 10}, "agent": {"wall_time_s": 3.5}},
    "egress": {"machine": "stub", "intranet": ["10.0.0.0/8"], "hosts": {"internet": []}},
    "untrustedSkills": "ask",
}


def decide(tool: str, amount: Any = 500, **permissions: Any) -> Decision:
    server, _, name = tool.partition(":")
    held = gate(grant(tool, **permissions), policy=POLICY)
    return held.decide(Call(server, name, {"amount": amount}))


def test_the_first_rule_that_selects_a_call_decides() -> None:
    decision = decide("local:delete_all", skill="skill.trusted.x@1.0.0")
    assert (decision.verdict, decision.rule) == ("deny", "policy.deny")
    assert decision.reason == "the policy's rule 'never' (no deletions) denies it"


@pytest.mark.parametrize("glob", ["trusted.*", "skill.trusted.*", "trusted.x@1.*", "trusted.x"])
def test_skills_are_selected_by_any_of_their_names(glob: str) -> None:
    policy = {"rules": [{"skills": glob, "decision": "allow"}]}
    held = gate(grant("local:pay", "skill.trusted.x@1.0.0", risk="high"), policy=policy)
    assert held.decide(Call("local", "pay")).rule == "policy.allow"


def test_an_explicit_allow_lets_high_risk_pass() -> None:
    assert decide("local:x", skill="skill.trusted.x@1.0.0", risk="high").rule == "policy.allow"


def test_calls_that_no_rule_selects_are_as_without_a_policy() -> None:
    assert decide("local:other").rule == "skill.declares"
    asked = decide("local:other", risk="high").approval
    assert asked is not None
    assert asked.approver == "operator"


def test_the_policy_can_say_who_the_operator_is() -> None:
    policy = {"approvers": {"operator": {"kind": "person", "people": "mia", "timeout_s": 5}}}
    asked = gate(grant("local:pay", risk="high"), policy=policy).decide(Call("local", "pay"))
    assert asked.approval is not None
    assert (asked.approval.people, asked.approval.timeout_s) == (("mia",), 5)


def test_a_chain_without_approvers_rejects() -> None:
    decision = decide("local:other", risk="medium")
    assert (decision.verdict, decision.rule) == ("deny", "approval.no_approver")


def test_a_chain_whose_rules_all_escalate_rejects() -> None:
    policy = {"rules": [{"approvers": ["small"]}], "approvers": APPROVERS}
    decision = gate(grant("local:pay"), policy=policy).decide(Call("local", "pay", {"amount": 500}))
    assert (decision.verdict, decision.rule) == ("deny", "approval.no_approver")


def test_a_rule_approves_rejects_or_escalates_by_the_arguments() -> None:
    assert decide("local:pay", 100).rule == "approval.rule"
    rejected = decide("local:pay", 9001)
    assert (rejected.verdict, rejected.rule) == ("deny", "approval.rejected")
    assert "too much" in rejected.reason
    for unclear in (500, "100", None, True):
        assert decide("local:pay", unclear).verdict == "ask"


def test_a_request_goes_from_person_to_person_and_ends() -> None:
    first = decide("local:pay").approval
    assert first is not None
    assert (first.approver, first.timeout_s) == ("treasurer", 60)
    assert first.may_decide("ben")
    assert not first.may_decide("head")
    second = first.escalated()
    assert second is not None
    assert (second.approver, second.people, second.timeout_s) == ("head", ("head",), 86_400)
    assert second.digest == first.digest
    assert second.escalated() is None


def test_a_request_survives_as_json() -> None:
    request = decide("local:pay").approval
    assert request is not None
    assert ApprovalRequest.from_document(json.loads(json.dumps(request.to_document()))) == request


def test_budgets_are_read_and_the_lowest_of_two_holds() -> None:
    budgets = Policy.from_document(POLICY).budgets
    assert budgets == {"run": Budget(10, None), "agent": Budget(None, 3.5)}
    assert budgets["run"].lowest(Budget(20, 60)) == Budget(10, 60)


def test_a_denial_by_budget_says_what_is_spent() -> None:
    denied = denied_by_budget(decide("local:pay", 1), "tool_calls", 10, 10, "run")
    assert (denied.verdict, denied.rule) == ("deny", "budget.tool_calls")
    assert denied.reason == "the budget of this run is spent: 10 of 10 tool calls are made"


@pytest.mark.parametrize(
    ("comparison", "value", "found", "holds"),
    [
        ("equals", 1, 1.0, True),
        ("equals", True, 1, False),
        ("equals", {"a": [1]}, {"a": [1]}, True),
        ("oneOf", ("a", "b"), "b", True),
        ("matches", "ORD-*", "ORD-1", True),
        ("matches", "*", 5, False),
        ("lessThan", 5, 5, False),
        ("atMost", 5, 5, True),
        ("moreThan", 5, True, False),
        ("atLeast", 5, "9", False),
        ("exists", True, None, True),
        ("exists", False, 0, False),
    ],
)
def test_comparisons(comparison: str, value: Any, found: Any, holds: bool) -> None:
    assert Condition("/x", comparison, value).holds({"x": found}) is holds


def test_a_condition_looks_where_its_pointer_says() -> None:
    arguments = {"items": [{"a/b": 7}]}
    assert Condition("/items/0/a~1b", "equals", 7).holds(arguments)
    for nowhere in (
        "/items/1", "/items/x", "/items/" + "9" * 5_000, "/items/0/a~1b/c", "/none",
    ):  # fmt: skip
        assert not Condition(nowhere, "equals", 7).holds(arguments)
        assert Condition(nowhere, "exists", False).holds(arguments)


@pytest.mark.parametrize("glob", ["*a" * 127 + "*c", "*[ab]" * 51, "*?" * 128, "[" * 256])
def test_no_glob_that_is_short_enough_takes_long(glob: str) -> None:
    policy = Policy.from_document({**EMPTY, "rules": [{"tools": glob, "decision": "deny"}]})
    condition = Condition("/text", "matches", glob)
    started = time.process_time()
    policy.rule_for(grant("bank:" + "a" * 256 + "b"))
    condition.holds({"text": "a" * 100_000 + "b"})
    assert time.process_time() - started < 2


def test_a_glob_that_is_too_long_is_refused_before_it_is_read() -> None:
    started = time.process_time()
    with pytest.raises(InvalidDocument) as caught:
        Policy.from_document({**EMPTY, "rules": [{"tools": ["[" * 50_000], "decision": "deny"}]})
    assert [problem.path for problem in caught.value.problems] == ["/rules/0/tools/0"]
    assert "at most 256 characters" in caught.value.problems[0].message
    assert time.process_time() - started < 1


def test_without_a_file_the_default_holds(tmp_path: Path) -> None:
    assert Policy.load(tmp_path / "policy.json") == Policy()


MISTAKES = """\
apiVersion: policy/v2
kind: ToolPolicy
rules:
  - tools: [5]
    decision: maybe
  - decision: allow
    approvers: [nobody]
  - approvers: [boss, size]
  - tolls: x
approvers:
  boss: {kind: person, timeout_s: 0}
  size:
    kind: rule
    cases:
      - when: [{pointer: amount, atMost: 1, atLeast: 0}]
        decision: approve
      - when: []
        decision: approve
budgets: {run: {tool_calls: 1.5}, everybody: {}}
egress: {hosts: {moon: []}}
untrustedSkills: perhaps
"""


def test_all_mistakes_of_a_file_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(MISTAKES)
    with pytest.raises(InvalidDocument) as caught:
        Policy.load(file)
    found = {(problem.code, problem.path, problem.line) for problem in caught.value.problems}
    assert found == {
        ("POLICY_SHAPE", "/apiVersion", 1),
        ("POLICY_SHAPE", "/rules/0/tools/0", 4),
        ("POLICY_SHAPE", "/rules/0/decision", 5),
        ("POLICY_RULE", "/rules/1", 6),
        ("POLICY_ALLOWS_ALL", "/rules/1", 6),
        ("POLICY_APPROVER_UNKNOWN", "/rules/1/approvers/0", 7),
        ("POLICY_CHAIN_ORDER", "/rules/2/approvers/1", 8),
        ("POLICY_UNKNOWN_KEY", "/rules/3/tolls", 9),
        ("POLICY_RULE", "/rules/3", 9),
        ("POLICY_SHAPE", "/approvers/boss/timeout_s", 11),
        ("POLICY_POINTER", "/approvers/size/cases/0/when/0/pointer", 15),
        ("POLICY_CONDITION", "/approvers/size/cases/0/when/0", 15),
        ("POLICY_SHAPE", "/approvers/size/cases/1/when", 17),
        ("POLICY_SHAPE", "/budgets/run/tool_calls", 19),
        ("POLICY_UNKNOWN_KEY", "/budgets/everybody", 19),
        ("POLICY_UNKNOWN_KEY", "/egress/hosts/moon", 20),
        ("POLICY_SHAPE", "/untrustedSkills", 21),
    }
    assert all(problem.hint and problem.file == str(file) for problem in caught.value.problems)


SHIPPED = json.loads((files("dcf.skills") / "schemas" / "policy.schema.json").read_text())


def test_the_shipped_schema_accepts_the_policy() -> None:
    assert not list(Draft202012Validator(SHIPPED).iter_errors(POLICY))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else ()
    elements = enumerate(value) if isinstance(value, list) else ()
    inner = [place for key, item in (*members, *elements) for place in _places(item, (*path, key))]
    return [path, *inner]


def _changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    changed = copy.deepcopy(document)
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return changed


SPOILERS = [None, True, 0, -1, 1.5, "", "allow", "x", [], [""], ["small"], {}, {"kind": "rule"}]
SPOILERS += ["*a" * 128, "*a" * 128 + "*"]
SEMANTIC = {"POLICY_APPROVER_UNKNOWN", "POLICY_CHAIN_ORDER", "POLICY_ALLOWS_ALL"}


@given(place=st.sampled_from(_places(POLICY)), value=st.sampled_from(SPOILERS))
def test_the_shipped_schema_and_the_reader_agree_on_every_spoiled_policy(
    place: tuple[Any, ...], value: Any
) -> None:
    """What a schema cannot say is whether names of approvers exist, and the order of a chain."""
    document = _changed(POLICY, place, value)
    fits = Draft202012Validator(SHIPPED).is_valid(document)
    try:
        Policy.from_document(document)
        codes: set[str] = set()
    except InvalidDocument as invalid:
        codes = {problem.code for problem in invalid.problems}
    assert fits == (not codes - SEMANTIC), (document, codes)


def test_the_yaml_of_the_mistakes_fails_the_shipped_schema_too() -> None:
    assert not Draft202012Validator(SHIPPED).is_valid(yaml.safe_load(MISTAKES))
