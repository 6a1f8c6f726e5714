"""`dcf skills test` without its command line: cases and tests called over MCP, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp.server import MCPServer

from dcf.skill_tests import Choice, NothingToTest, Outcome, Report, make_plan, run_plan
from dcf.tools.stub import create_stub_app
from dcf.tools.stub.in_process import served

ORDER = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}


def case(case_id: str, value: str, **answer: Any) -> dict[str, Any]:
    match = {"strategy": "exact", "expr": "$.order", "value": value}
    return {"caseId": case_id, "match": match, "weight": 0, **answer}


CASES = [
    case("plain", "A", response={"order": "A", "state": "open"}),
    case("chance", "B", response=["{{ uuid }}", "{{ now_iso }}", "{{ random_int(1, 9) }}"]),
    case("slow", "C", response={"order": "C"}, latencyMsOverride=150),
    case("declined", "D", errorMode="throw", errorCode="Declined"),
    case("broken", "E", errorMode="http_500"),
    case("hanging", "F", errorMode="timeout"),
    case("held_for_a_moment", "G", errorMode="timeout", errorCode="Late", latencyMsOverride=50),
    case("flaky", "H", errorMode="flaky", flakyRate=0.4, seed=7, response={"order": "H"}),
    case("never_fails", "I", errorMode="flaky", flakyRate=0, response={"order": "I"}),
    case("always_fails", "J", errorMode="flaky", flakyRate=1, errorCode="Down"),
    case("polled", "K", sequence={
        "steps": [
            {"response": {"state": "pending"}},
            {"errorMode": "throw", "errorCode": "Busy"},
            {"errorMode": "timeout"},
            {"response": {"state": "done"}},
        ],
        "then": "repeat_last",
    }),
    case("round_and_round", "L", sequence={
        "steps": [{"response": 1}, {"response": 2}], "then": "cycle",
    }),
    case("text", "M", response="123"),
    case("template", "N", responseTemplate='{"for": "{{ args.order }}"}'),
]  # fmt: skip


def write_generated(
    folder: Path, cases: list[dict[str, Any]], tests: list[dict[str, Any]] | None = None
) -> Path:
    """A generated folder with one skill that has one tool, ``shop:look``."""
    tool = {
        "version": "1.0.0", "description": "Look.", "paramsSchema": ORDER, "resultSchema": {},
        "defaultResponse": {"order": "{{ args.order }}"}, "rateLimit": {"rps": 0},
        "latencyMs": {"default": 0}, "cases": cases,
    }  # fmt: skip
    manifest = {
        "manifestApiVersion": "v2.1.0", "skillPackageId": None,
        "manifestId": "skill.shop.look@1.0.0", "skillName": "shop.look", "skillVersion": "1.0.0",
        "skillDirectives": "Look.",
        "requiredTools": [{
            "toolName": "look", "description": "Look.", "required": True,
            "definition": {"type": "mcp_server", "serverId": "shop", "toolName": "look"},
            "json_schema": {"name": "look", "description": "Look.", "parameters": ORDER},
        }],
        "requiredDataSources": [],
    }  # fmt: skip
    entry = {
        "manifestId": manifest["manifestId"], "skillName": "shop.look", "skillVersion": "1.0.0",
        "path": "../manifests/look.json",
    }  # fmt: skip
    for name, document in {
        "stub/stub_config.json": {"seed": 3, "servers": {"shop": {"tools": {"look": tool}}}},
        "manifests/look.json": manifest,
        "catalogs/skills_catalog.json": {"skills": [entry]},
        "tests/skill_tests.json": {"tests": tests or []},
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document))
    return folder


def written_test(name: str, order: str, **expect: Any) -> dict[str, Any]:
    return {
        "skill": "skill.shop.look@1.0.0", "name": name, "tool": "shop:look",
        "arguments": {"order": order}, "expect": expect, "source": "skills/look.skill.yaml",
    }  # fmt: skip


def by_name(report: Report) -> dict[str, Outcome]:
    return {outcome.name: outcome for outcome in report.outcomes}


async def test_every_kind_of_case_passes_over_the_wire(tmp_path: Path) -> None:
    generated = write_generated(tmp_path, CASES)
    seen: list[tuple[int, int]] = []
    report = await run_plan(
        make_plan(generated, Choice()),
        progress=lambda done, total, _last: seen.append((done, total)),
    )
    assert [one.to_dict() for one in report.outcomes if one.status != "passed"] == []
    assert report.cases == (len(CASES), len(CASES))
    [coverage] = report.coverage
    assert (coverage.tools_passed, coverage.cases_passed) == (1, len(CASES))
    assert seen == [(number, len(CASES) + 1) for number in range(1, len(CASES) + 2)]


async def test_a_server_that_answers_otherwise_is_told_apart_line_by_line(tmp_path: Path) -> None:
    generated = write_generated(tmp_path / "ours", CASES)
    other = [
        case("plain", "A", response={"order": "A", "state": "closed", "more": 1}),
        case("declined", "D", errorMode="throw", errorCode="Refused"),
        case("hanging", "F", response={}),
    ]
    there = write_generated(tmp_path / "theirs", other) / "stub/stub_config.json"
    plan = make_plan(generated, Choice(cases=("plain", "declined", "hanging", "broken", "default")))
    async with served(create_stub_app(there)) as url:
        report = await run_plan(plan, url=url, mark="x")
    outcomes = by_name(report)
    assert outcomes["plain"].details == (
        '$.state: expected "open", got "closed"',
        "$.more: is not expected, got 1",
    )
    assert "expected the error Declined, got Refused" in outcomes["declined"].message
    assert "expected the error StubTimeout, got an answer" in outcomes["hanging"].message
    assert "expected the error Http500, got an answer" in outcomes["broken"].message
    assert outcomes["default"].status == "passed"
    assert not report.ok
    assert report.counts == {"passed": 1, "failed": 4, "unreachable": 0, "skipped": 0}


async def test_a_stub_elsewhere_is_tested_as_often_as_one_likes(tmp_path: Path) -> None:
    generated = write_generated(tmp_path, CASES)
    async with served(create_stub_app(generated / "stub/stub_config.json")) as url:
        for mark in ("one", "two"):
            report = await run_plan(make_plan(generated, Choice()), url=url, mark=mark)
            assert report.ok, [one.to_dict() for one in report.outcomes if not one.ok]


async def test_a_real_server_shows_its_answers_and_what_it_cannot_show_is_skipped(
    tmp_path: Path,
) -> None:
    server = MCPServer("real")

    @server.tool()
    def look(order: str) -> dict[str, Any]:
        """Look."""
        return {"order": order, "state": "open"} if order == "A" else {"order": order}

    generated = write_generated(tmp_path, CASES)
    chosen = Choice(cases=("plain", "slow", "declined", "hanging", "template"))
    async with served(server.streamable_http_app(stateless_http=True)) as url:
        report = await run_plan(make_plan(generated, chosen), url=f"{url}/mcp")
    statuses = {name: outcome.status for name, outcome in by_name(report).items()}
    assert statuses == {
        "plain": "passed", "slow": "passed", "template": "failed",
        "declined": "skipped", "hanging": "skipped",
    }  # fmt: skip


async def test_a_shadowed_case_fails_the_run_and_says_by_what(tmp_path: Path) -> None:
    shadow = {"caseId": "all", "match": {"strategy": "always"}, "weight": 5, "response": {}}
    report = await run_plan(make_plan(write_generated(tmp_path, [CASES[0], shadow]), Choice()))
    outcome = by_name(report)["plain"]
    assert outcome.status == "unreachable"
    assert "shadowed by case all" in outcome.message
    assert not report.ok


async def test_the_tests_of_a_skill_walk_through_a_sequence(tmp_path: Path) -> None:
    tests = [
        written_test("first", "K", response={"state": "pending"}),
        written_test("second", "K", error="Busy"),
        written_test("third", "K", error="DCF.ToolTimeout"),
        written_test("fourth", "K", contains={"state": "on"}),
        written_test("wrong value", "A", response={"order": "A"}),
        written_test("wrong error", "D", error="Other"),
        written_test("no error", "A", error="Other"),
        written_test("part is missing", "A", contains={"nothing": 1}),
    ]
    report = await run_plan(make_plan(write_generated(tmp_path, CASES, tests), Choice()))
    wrong = {one.name: one.message for one in report.outcomes if not one.ok}
    assert wrong == {
        "wrong value": '$.state: is not expected, got "open"',
        "wrong error": "expected the error Other, got Declined",
        "no error": 'expected the error Other, got an answer: {"order":"A","state":"open"}',
        "part is missing": "$.nothing: expected 1, is missing",
    }
    [coverage] = report.coverage
    assert (coverage.tests, coverage.tests_passed) == (8, 4)


def test_a_choice_that_names_nothing_is_told_with_all_its_mistakes(tmp_path: Path) -> None:
    generated = write_generated(tmp_path, CASES)
    with pytest.raises(NothingToTest) as caught:
        make_plan(generated, Choice(tools=("shop:lok",), cases=("plan",)))
    assert [problem.code for problem in caught.value.problems] == [
        "SKILL_TEST_TOOL", "SKILL_TEST_CASE",
    ]  # fmt: skip
    assert "shop:look" in caught.value.problems[0].hint
