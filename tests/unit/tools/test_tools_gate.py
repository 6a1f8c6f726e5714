"""What the gate lets pass, and how it says why it does not."""

from __future__ import annotations

import time
from typing import Any

import pytest
from gate_samples import SCHEMA, gate, grant, pin
from hypothesis import given
from hypothesis import strategies as st

from dcf.tools import Call, Registry, SchemaPin, ServerConfig, ToolDescription
from dcf.tools.gate.gate import Gate


def live(schema: dict[str, Any], description: str = "") -> ToolDescription:
    return ToolDescription("pay", description, schema, None)


def test_a_tool_that_a_loaded_skill_declares_passes_and_the_skill_is_named() -> None:
    decision = gate(grant("local:pay")).decide(Call("local", "pay"))
    assert (decision.verdict, decision.rule) == ("allow", "skill.declares")
    assert decision.skills == ("skill.pay@1.0.0",)
    assert decision.digest == Call("local", "pay", {}).digest


def test_an_undeclared_tool_is_denied_with_the_closest_names() -> None:
    decision = gate(grant("local:pay")).decide(Call("local", "payy"))
    assert (decision.verdict, decision.rule) == ("deny", "tool.undeclared")
    assert decision.reason == "no loaded skill declares this tool; did you mean local:pay?"


def test_without_skills_nothing_is_allowed() -> None:
    assert gate().decide(Call("local", "pay")).reason == "no skill with tools is loaded"


def test_a_tool_of_a_skill_that_is_not_loaded_is_denied_and_the_skill_is_named() -> None:
    catalog = {"local:refund": ["skill.refunds@2.0.0"]}
    decision = gate(grant("local:pay"), declared=catalog).decide(Call("local", "refund"))
    assert decision.rule == "tool.not_loaded"
    assert "skill.refunds@2.0.0 would: load it" in decision.reason


def test_arguments_that_do_not_fit_are_denied_with_every_fault_and_its_place() -> None:
    decision = gate(grant("local:pay", input_schema=SCHEMA)).decide(Call("local", "pay", {"to": 5}))
    assert decision.rule == "arguments.invalid"
    assert "/: 'amount' is a required property" in decision.reason
    assert "/to: 5 is not of type 'string'" in decision.reason


def test_a_schema_that_is_none_or_refers_elsewhere_denies_instead_of_failing() -> None:
    strange = [{"type": 5}, {"$ref": "http://127.0.0.1:1/schema"}, {"$ref": "#/nowhere"}]
    for schema in [*strange, {"patternProperties": {"(": {}}}]:
        decision = gate(grant("local:pay", input_schema=schema)).decide(
            Call("local", "pay", {"a": 1})
        )
        assert (decision.rule, decision.verdict) == ("arguments.invalid", "deny")
        assert "cannot be used" in decision.reason


def fanned_out(depth: int) -> dict[str, Any]:
    """Every definition asks twice for the next one: 2 ** depth comparisons."""
    twice = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(depth)
    }
    return {"$defs": {**twice, f"d{depth}": True}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"to": {"pattern": "^(a+)+$"}}},
        {"properties": {"to": {"not": {"pattern": "^(a|aa)+$"}}}},
        {"patternProperties": {"^(t|to)+(o|oo)*#$": True}, "propertyNames": {"pattern": "(o*)*#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        fanned_out(40),
    ],
)
def test_no_schema_of_a_tool_holds_the_gate_up(schema: dict[str, Any]) -> None:
    arguments = {"to": "a" * 40_000 + "#", "t" + "o" * 5_000: 1}
    held = gate(
        grant("local:pay", input_schema=schema), pins={"local:pay": pin(schema, locked=False)}
    )
    started = time.process_time()
    decision = held.decide(Call("local", "pay", arguments, live(schema)))
    assert time.process_time() - started < 3
    assert (decision.verdict, decision.rule) == ("deny", "arguments.invalid")
    assert "cannot be used" in decision.reason


@pytest.mark.parametrize(
    ("server", "egress", "passes"),
    [
        ("local", "none", True),
        ("program", "none", True),
        ("inside", "none", False),
        ("inside", "intranet", True),
        ("outside", "intranet", False),
        ("outside", "internet", True),
    ],
)
def test_a_server_further_away_than_the_skill_may_reach_is_denied(
    server: str, egress: Any, passes: bool
) -> None:
    decision = gate(grant(f"{server}:pay", egress=egress)).decide(Call(server, "pay"))
    assert decision.allowed is passes
    assert passes or decision.rule == "egress.forbidden"


def test_the_reason_of_a_forbidden_egress_says_where_the_server_is_and_what_the_skill_may() -> None:
    decision = gate(grant("outside:pay", egress="intranet")).decide(Call("outside", "pay"))
    assert decision.reason == (
        "server 'outside' (https://api.example.com/mcp) is on the internet; "
        "skill.pay@1.0.0 (egress: intranet) may reach the intranet only"
    )


def test_a_host_that_is_not_on_the_list_of_its_level_is_denied() -> None:
    policy = {"egress": {"hosts": {"internet": ["*.example.org"]}}}
    decision = gate(grant("outside:pay", egress="internet"), policy=policy).decide(
        Call("outside", "pay")
    )
    assert decision.rule == "egress.host_not_listed"


def test_a_secret_of_the_connection_must_be_declared_by_the_skill() -> None:
    call = Call("bank", "pay")
    decision = gate(grant("bank:pay")).decide(call)
    assert decision.rule == "secret.undeclared"
    assert "BANK_TOKEN" in decision.reason
    assert "very-secret" not in decision.reason
    assert gate(grant("bank:pay", secrets=("BANK_TOKEN", "OTHER"))).decide(call).allowed


def test_a_server_that_the_registry_does_not_know_is_denied() -> None:
    assert gate(grant("lokal:pay")).decide(Call("lokal", "pay")).rule == "server.unknown"


def test_a_server_that_the_registry_refuses_is_denied_with_its_reason() -> None:
    refused = Registry([ServerConfig("run", transport="stdio", command="x", refused="not allowed")])
    decision = Gate([grant("run:pay")], servers=refused).decide(Call("run", "pay"))
    assert (decision.rule, decision.reason) == ("server.refused", "not allowed")


def test_high_risk_waits_for_the_operator_when_no_policy_speaks() -> None:
    decision = gate(grant("local:pay", risk="high")).decide(Call("local", "pay", {"amount": 1}))
    assert (decision.verdict, decision.rule) == ("ask", "approval.required")
    request = decision.approval
    assert request is not None
    assert (request.approver, request.people) == ("operator", ("operator",))
    assert (request.timeout_s, request.chain) == (86_400, ())
    assert request.arguments == {"amount": 1}
    assert request.digest == decision.digest


@pytest.mark.parametrize("risk", ["low", "medium"])
def test_other_risks_pass_when_no_policy_speaks(risk: Any) -> None:
    assert gate(grant("local:pay", risk=risk)).decide(Call("local", "pay")).allowed


def test_the_most_permissive_skill_that_declares_a_tool_decides_and_is_named() -> None:
    grants = [
        grant("local:pay", "skill.careful@1.0.0", risk="high"),
        grant("local:pay", "skill.strict@1.0.0", input_schema=SCHEMA),
        grant("local:pay", "skill.plain@1.0.0"),
    ]
    decision = gate(*grants).decide(Call("local", "pay"))
    assert (decision.verdict, decision.skills) == ("allow", ("skill.plain@1.0.0",))
    assert gate(*grants[:2]).decide(Call("local", "pay")).verdict == "ask"
    refused = gate(grants[1], grant("local:pay", "skill.other@1.0.0", input_schema=SCHEMA))
    assert refused.decide(Call("local", "pay")).skills == (
        "skill.strict@1.0.0",
        "skill.other@1.0.0",
    )


def test_a_schema_that_changed_since_it_was_locked_is_denied_with_the_difference() -> None:
    changed = {**SCHEMA, "required": ["amount", "to"]}
    decision = gate(grant("local:pay"), pins={"local:pay": pin(SCHEMA)}).decide(
        Call("local", "pay", live=live(changed))
    )
    assert decision.rule == "schema.changed"
    assert any(line.startswith("+") and '"to"' in line for line in decision.details)
    assert not any('"number"' in line for line in decision.details if line[0] in "+-")


def test_a_changed_description_of_the_tool_is_no_changed_schema() -> None:
    held = gate(grant("local:pay"), pins={"local:pay": pin(SCHEMA)})
    assert held.decide(Call("local", "pay", live=live(SCHEMA, "In other words"))).allowed


def test_a_locked_tool_that_its_server_no_longer_offers_is_denied() -> None:
    held = gate(grant("local:pay"), pins={"local:pay": pin(SCHEMA)})
    assert held.decide(Call("local", "pay", gone=True)).rule == "schema.gone"


@pytest.mark.parametrize(
    ("schema", "passes"),
    [
        ({"properties": {"amount": {"type": "number", "title": "A"}, "to": {}}}, True),
        ({**SCHEMA, "title": "payArguments", "required": ["amount", "to"]}, True),
        ({**SCHEMA, "properties": {"amount": {"type": "string"}, "to": {}}}, False),
        ({**SCHEMA, "properties": {"sum": {"type": "number"}}}, False),
        ({**SCHEMA, "required": ["amount", "currency"]}, False),
    ],
)
def test_a_server_need_only_take_what_an_author_wrote_when_it_was_never_locked(
    schema: dict[str, Any], passes: bool
) -> None:
    held = gate(grant("local:pay"), pins={"local:pay": pin(SCHEMA, locked=False)})
    assert held.decide(Call("local", "pay", live=live(schema))).allowed is passes


def test_the_event_of_a_decision_has_the_digest_and_never_the_arguments() -> None:
    decision = gate(grant("local:pay")).decide(Call("local", "pay", {"to": "Alice Secret"}))
    assert decision.to_event() == {
        "type": "ToolDecision",
        "tool": "local:pay",
        "verdict": "allow",
        "rule": "skill.declares",
        "reason": "declared by skill.pay@1.0.0",
        "skills": ["skill.pay@1.0.0"],
        "risk": "low",
        "arguments": decision.digest,
    }


def test_the_digest_depends_on_server_tool_and_arguments_but_not_on_the_order_of_members() -> None:
    one = Call("s", "t", {"a": 1, "b": 2})
    assert one.digest == Call("s", "t", {"b": 2, "a": 1}).digest
    assert len({one.digest, Call("s", "t", {"a": 1}).digest, Call("s:t", "", {}).digest}) == 3


NAMES = st.sampled_from(["local", "inside", "outside", "bank", "program", "nowhere"])
TOOLS = st.sampled_from(["pay", "read", "*", ""])
GRANTS = st.builds(
    lambda server, tool, skill, egress, risk, secrets: grant(
        f"{server}:{tool}", skill, egress=egress, risk=risk, secrets=tuple(secrets)
    ),
    NAMES,
    TOOLS,
    st.sampled_from(["skill.a@1.0.0", "skill.b@2.0.0"]),
    st.sampled_from(["none", "intranet", "internet"]),
    st.sampled_from(["low", "medium", "high"]),
    st.lists(st.sampled_from(["BANK_TOKEN", "OTHER"])),
)
REACH = {"local": 0, "program": 0, "bank": 0, "inside": 1, "outside": 2}
LEVELS = ["none", "intranet", "internet"]


@given(
    grants=st.lists(GRANTS, max_size=6),
    server=NAMES,
    tool=TOOLS,
    arguments=st.dictionaries(
        st.text(max_size=5), st.none() | st.floats() | st.text(max_size=5), max_size=3
    ),
)
def test_whatever_passes_is_granted_within_its_egress_and_with_its_secrets(
    grants: list[Any], server: str, tool: str, arguments: dict[str, Any]
) -> None:
    decision = gate(*grants).decide(Call(server, tool, arguments))
    assert decision.reason
    if decision.verdict == "deny":
        return
    [skill] = decision.skills
    grounds = [
        one
        for one in grants
        if (one.server_id, one.tool_name, one.skill) == (server, tool, skill)
        and LEVELS.index(one.egress) >= REACH[server]
        and (server != "bank" or "BANK_TOKEN" in one.secrets)
    ]
    assert grounds
    if decision.allowed:
        assert any(one.risk != "high" for one in grounds)


@pytest.mark.parametrize(
    ("pinned", "now", "same"),
    [
        ({"type": "object"}, {"type": "object"}, True),
        ({"type": "object"}, {"type": "array"}, False),
        ({"type": "object"}, None, True),
        (None, {"type": "object"}, True),
        ({"properties": {"result": {"type": "integer"}}}, {"type": "integer"}, True),
        ({"properties": {"result": {"type": "integer"}}}, {"type": "string"}, False),
    ],
)
def test_a_locked_tool_may_promise_no_answer_but_not_another_one(
    pinned: Any, now: Any, same: bool
) -> None:
    """What a server wraps as ``{"result": x}`` is the same as x alone."""
    changes = SchemaPin(SCHEMA, pinned).changes(ToolDescription("pay", "", SCHEMA, now))
    assert (changes == ()) is same
    other = {**SCHEMA, "title": "new"}
    assert SchemaPin(SCHEMA, pinned).changes(ToolDescription("pay", "", other, now))
