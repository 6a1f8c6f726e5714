"""Tests inside a skill, sequences, idempotent tools, policy and pins of real servers."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from skill_samples import (
    REGISTRY_FILE,
    SKILL,
    SKILL_FILE,
    SOURCES,
    TOOLS,
    TOOLS_FILE,
    edited,
    problems_of,
    write_sources,
)

from dcf.digest import tool_digest
from dcf.skills import SkillCatalog, generate_all

TESTS = """\
  tests:
    - name: nine cups
      tool: kettle:boil
      arguments: { cups: 9 }
      expect: { response: { degrees: 60 } }
    - name: it pours
      tool: kettle:pour
      expect: { contains: {} }
"""


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def out_of(root: Path, changes: dict[str, str]) -> Path:
    result = generate_all(write_sources(root / "src", changes), root / "out")
    assert result.ok, result.problems
    return root / "out"


def with_tests(text: str) -> dict[str, str]:
    return {SKILL_FILE: SKILL + text}


def test_the_tests_of_a_skill_go_to_a_file_of_their_own(tmp_path: Path):
    out = out_of(tmp_path, with_tests(TESTS))
    assert read(out / "tests/skill_tests.json")["tests"] == [
        {
            "skill": "skill.tea.brew@1.0.0",
            "name": "nine cups",
            "tool": "kettle:boil",
            "arguments": {"cups": 9},
            "expect": {"response": {"degrees": 60}},
            "source": SKILL_FILE,
        },
        {
            "skill": "skill.tea.brew@1.0.0",
            "name": "it pours",
            "tool": "kettle:pour",
            "arguments": {},
            "expect": {"contains": {}},
            "source": SKILL_FILE,
        },
    ]
    assert "tests" not in read(out / "manifests/skill.tea.brew-1.0.0.json")


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("name: it pours", "name: nine cups", "SKILL_TEST_TWICE", 6),
        ("tool: kettle:pour", "tool: kettle:whistle", "SKILL_TEST_TOOL", 7),
        ("{ cups: 9 }", "{ cups: many }", "TOOL_ARGUMENTS_MISMATCH", 4),
        ("{ cups: 9 }", "{ }", "TOOL_ARGUMENTS_MISMATCH", 4),
        ("{ contains: {} }", "{ contains: {}, error: Dry }", "SKILL_VALUE", 8),
        ("{ contains: {} }", "{}", "SKILL_VALUE", 8),
    ],
)
def test_what_is_wrong_with_a_test(tmp_path: Path, old: str, new: str, code: str, line: int):
    [problem] = problems_of(tmp_path, with_tests(TESTS.replace(old, new)))
    assert (problem.code, problem.line) == (code, SKILL.count("\n") + line)


SEQUENCE = """\
          - id: heating
            match: { strategy: exact, path: cups, value: 9 }
            arguments: { cups: 9 }
            latencyMsOverride: 5
            sequence:
              steps:
                - response: { degrees: 40 }
                - { errorMode: flaky }
                - { errorMode: throw, errorCode: Dry }
              then: cycle
"""


def case_of(changes: str) -> dict[str, str]:
    start, end = TOOLS.index("          - id: many"), TOOLS.index("      pour:")
    return {TOOLS_FILE: TOOLS[:start] + changes + TOOLS[end:]}


def test_a_sequence_has_answers_one_after_another(tmp_path: Path):
    out = out_of(tmp_path, case_of(SEQUENCE))
    tool = read(out / "stub/stub_config.json")["servers"]["kettle"]["tools"]["boil"]
    [case] = tool["cases"]
    assert case["arguments"] == {"cups": 9}
    assert case["latencyMsOverride"] == 5
    assert "response" not in case
    assert case["sequence"]["then"] == "cycle"
    first, second, third = case["sequence"]["steps"]
    assert first == {"response": {"degrees": 40}}
    assert second.pop("seed") > 0
    assert second == {"errorMode": "flaky", "flakyRate": 0.1, "response": {"degrees": 100}}
    assert third == {"errorMode": "throw", "errorCode": "Dry"}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (
            "            sequence:",
            "            response: {}\n            sequence:",
            "TOOL_CASE_SEQUENCE",
        ),
        ("then: cycle", "then: stop", "TOOL_VALUE"),
        ("arguments: { cups: 9 }", "arguments: { cups: nine }", "TOOL_ARGUMENTS_MISMATCH"),
        ("{ degrees: 40 }", "{ degrees: hot }", "TOOL_ANSWER_MISMATCH"),
    ],
)
def test_what_is_wrong_with_a_sequence(tmp_path: Path, old: str, new: str, code: str):
    found = [problem.code for problem in problems_of(tmp_path, case_of(SEQUENCE.replace(old, new)))]
    assert found == [code]


def test_a_case_can_compare_all_arguments(tmp_path: Path):
    case = "          - { id: whole, match: { strategy: exact, value: { cups: 9 } } }\n"
    out = out_of(tmp_path, case_of(case))
    tool = read(out / "stub/stub_config.json")["servers"]["kettle"]["tools"]["boil"]
    assert tool["cases"][0]["match"] == {"strategy": "exact", "expr": None, "value": {"cups": 9}}


def test_a_tool_can_be_declared_idempotent(tmp_path: Path):
    more = edited(
        TOOLS_FILE,
        "        description: Boil water.",
        "        idempotent: true\n        description: Boil water.",
    )
    out = out_of(tmp_path, more)
    boil, pour = SkillCatalog.load(out).resolve("tea.brew").tools
    assert (boil.idempotent, pour.idempotent) == (True, False)
    tools = read(out / "stub/stub_config.json")["servers"]["kettle"]["tools"]
    assert (tools["boil"]["idempotent"], tools["pour"]["idempotent"]) == (True, False)


def test_a_tool_with_an_answer_that_breaks_its_schema_announces_none(tmp_path: Path):
    out = out_of(tmp_path, edited(TOOLS_FILE, "{ degrees: 60 }", "{ degrees: warm }"))
    assert (
        read(out / "stub/stub_config.json")["servers"]["kettle"]["tools"]["boil"]["resultSchema"]
        == {}
    )
    assert read(out / "skills.lock")["tools"]["kettle:boil"]["outputSchema"] is None


def test_an_unreadable_egress_gives_no_permission(tmp_path: Path):
    out = out_of(tmp_path, edited(SKILL_FILE, "egress: none", "egress: everywhere"))
    assert SkillCatalog.load(out).resolve("tea.brew").permissions.egress == "none"


# pins


def test_the_lock_pins_every_tool_as_authored(tmp_path: Path):
    pins = read(out_of(tmp_path, {}) / "skills.lock")["tools"]
    assert pins.keys() == {"kettle:boil", "kettle:pour"}
    boil = pins["kettle:boil"]
    assert boil["origin"] == "authored"
    assert boil["inputSchema"]["required"] == ["cups"]
    assert boil["outputSchema"]["required"] == ["degrees"]
    assert pins["kettle:pour"]["outputSchema"] is None
    both = {"inputSchema": boil["inputSchema"], "outputSchema": boil["outputSchema"]}
    text = json.dumps(both, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert boil["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def seen(ref: str = "kettle:boil", **changes: Any) -> dict[str, str]:
    schema = {"type": "object", "properties": {"cups": {"type": "integer", "title": "Cups"}}}
    pin = {"inputSchema": schema, "outputSchema": None, "digest": tool_digest(schema, None)}
    document = {"lockVersion": 1, "tools": {ref: {**pin, **changes}}}
    return {"tools.lock.json": json.dumps(document)}


def test_what_a_real_server_said_replaces_what_was_authored(tmp_path: Path):
    lock = read(out_of(tmp_path, seen()) / "skills.lock")
    assert lock["tools"]["kettle:boil"]["origin"] == "server"
    assert lock["tools"]["kettle:boil"]["inputSchema"]["properties"]["cups"]["title"] == "Cups"
    assert lock["tools"]["kettle:pour"]["origin"] == "authored"
    assert "tools.lock.json" in lock["sources"]


@pytest.mark.parametrize(
    ("sources", "code", "severity"),
    [
        (seen(digest="sha256:" + "0" * 64), "LOCK_DIGEST", "error"),
        (seen("kettle:whistle"), "LOCK_TOOL_UNKNOWN", "warning"),
        (seen(more=1), "LOCK_UNKNOWN", "error"),
        ({"tools.lock.json": "{"}, "LOCK_JSON", "error"),
        ({"tools.lock.json": "[" * 100_000}, "LOCK_JSON", "error"),
        ({"tools.lock.json": "[]"}, "LOCK_TYPE", "error"),
    ],
)
def test_what_is_wrong_with_pins(tmp_path: Path, sources: dict[str, str], code: str, severity: str):
    [problem] = problems_of(tmp_path, sources)
    assert (problem.code, problem.severity) == (code, severity)


def test_the_digest_of_a_tool_is_that_of_its_canonical_json() -> None:
    given = {"type": "object", "properties": {"b": {"minimum": 1.5}, "a": {}}}
    output = {"type": "object", "description": "für €"}
    text = (
        '{"inputSchema":{"properties":{"a":{},"b":{"minimum":1.5}},"type":"object"},'
        '"outputSchema":{"description":"für €","type":"object"}}'
    )
    assert tool_digest(given, output) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert tool_digest(given, None) != tool_digest(given, {})


# policy

POLICY = """\
apiVersion: policy/v1
kind: ToolPolicy
approvers:
  desk: { kind: person, people: [ada] }
  small: { kind: rule, cases: [{ when: [{ pointer: /cups, atMost: 2 }], decision: approve }] }
rules:
  - tools: ["kettle:*"]
    approvers: [small, desk, operator]
"""


def test_a_policy_is_generated_and_goes_with_its_source(tmp_path: Path):
    out = out_of(tmp_path, {"policy.yaml": POLICY})
    assert read(out / "policy.json")["rules"][0]["approvers"] == ["small", "desk", "operator"]
    (tmp_path / "src/policy.yaml").unlink()
    assert generate_all(tmp_path / "src", out).removed == ("policy.json",)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("[small, desk", "[smal, desk", "POLICY_APPROVER_UNKNOWN"),
        ("[small, desk, operator]", "[desk, small]", "POLICY_CHAIN_ORDER"),
        ("kind: ToolPolicy", "kind: Policy", "POLICY_VALUE"),
        ("rules:", "rule:", "POLICY_UNKNOWN"),
    ],
)
def test_what_is_wrong_with_a_policy(tmp_path: Path, old: str, new: str, code: str):
    problems = problems_of(tmp_path, {"policy.yaml": POLICY.replace(old, new, 1)})
    assert [problem.code for problem in problems] == [code]
    assert problems[0].line


# registry


@pytest.mark.parametrize(
    ("rule", "code", "severity", "hint"),
    [
        ("{ decision: allow }", "POLICY_ALLOWS_ALL", "error", "*:*"),
        ("{ tools: 'kettle:bail', decision: deny }", "POLICY_SELECTS_NOTHING", "warning", "boil"),
        ("{ tools: 'kettle:*', approvers: [] }", "POLICY_NO_APPROVER", "warning", "deny"),
    ],
)
def test_a_rule_that_says_something_else_than_is_meant(
    tmp_path: Path, rule: str, code: str, severity: str, hint: str
):
    text = f"apiVersion: policy/v1\nkind: ToolPolicy\nrules:\n  - {rule}\n"
    found = {problem.code: problem for problem in problems_of(tmp_path, {"policy.yaml": text})}
    assert found[code].severity == severity
    assert hint in found[code].hint


def test_an_empty_selector_is_no_selector(tmp_path: Path):
    rule = "{ tools: [], decision: allow }"
    text = f"apiVersion: policy/v1\nkind: ToolPolicy\nrules:\n  - {rule}\n"
    assert any(problem.is_error for problem in problems_of(tmp_path, {"policy.yaml": text}))


@pytest.mark.parametrize("name", ["policy.yml", "policy.json"])
def test_a_policy_of_another_name_does_not_count_as_none(tmp_path: Path, name: str):
    [problem] = problems_of(tmp_path, {name: POLICY})
    assert (problem.code, problem.is_error) == ("POLICY_FILE", True)


def test_every_member_of_a_server_is_generated_with_its_variables(tmp_path: Path):
    registry = """\
apiVersion: registry/v1
kind: ServerRegistry
env: "${DCF_ENV:-test}"
servers:
  kettle:
    transport: http
    endpoint: "${KETTLE_URL}"
    headers: { Authorization: "Bearer ${KETTLE_KEY}" }
    timeout: 2.5
    retries: 3
    connections: 4
overrides:
  production:
    kettle:
      transport: stdio
      command: kettled
      args: [--quiet]
      environment: { KETTLE_KEY: "${KETTLE_KEY}" }
allowStdio: true
"""
    out = out_of(tmp_path, {REGISTRY_FILE: registry})
    document = read(out / "registry.json")
    assert document["servers"]["kettle"] == {
        "transport": "streamable_http",
        "endpoint": "${KETTLE_URL}",
        "path": "/mcp",
        "headers": {"Authorization": "Bearer ${KETTLE_KEY}"},
        "timeout": 2.5,
        "retries": 3,
        "connections": 4,
    }
    assert document["overrides"]["production"]["kettle"]["environment"] == {
        "KETTLE_KEY": "${KETTLE_KEY}"
    }
    assert (document["env"], document["allowStdio"]) == ("${DCF_ENV:-test}", True)


def test_no_value_of_the_environment_reaches_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KETTLE_KEY", "boiling-hot-secret")
    entry = '    headers: { Authorization: "Bearer ${KETTLE_KEY}" }\n    path'
    out = out_of(tmp_path, edited(REGISTRY_FILE, "    path", entry))
    assert not [
        path for path in out.rglob("*") if path.is_file() and b"boiling" in path.read_bytes()
    ]
    assert SOURCES.keys()
