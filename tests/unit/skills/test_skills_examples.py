"""The skills this repository ships: enough of them, varied, and generated as committed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from skill_samples import REPOSITORY

from dcf.skills import SkillCatalog, generate_all, validate_sources

SOURCES = REPOSITORY / "skills_src"
GENERATED = REPOSITORY / "generated"
DOMAINS = {
    "finance",
    "laboratory",
    "office",
    "operations",
    "orders",
    "research",
    "support",
    "warehouse",
}


def stub() -> dict[str, Any]:
    config: dict[str, Any] = json.loads((GENERATED / "stub/stub_config.json").read_bytes())
    return config


def tools() -> dict[str, dict[str, Any]]:
    return {
        f"{server_id}:{name}": tool
        for server_id, server in stub()["servers"].items()
        for name, tool in server["tools"].items()
    }


def cases() -> list[dict[str, Any]]:
    return [case for tool in tools().values() for case in tool["cases"]]


def test_the_sources_have_no_problem_not_even_a_warning():
    assert [str(problem) for problem in validate_sources(SOURCES)] == []


def test_what_is_committed_is_what_the_sources_give(tmp_path: Path):
    result = generate_all(SOURCES, tmp_path)
    fresh = {name: (tmp_path / name).read_bytes() for name in result.written}
    committed = {
        path.relative_to(GENERATED).as_posix(): path.read_bytes()
        for path in GENERATED.rglob("*")
        if path.is_file()
    }
    assert committed.keys() == fresh.keys()
    assert [name for name in fresh if fresh[name] != committed[name]] == []


HEADER = "# yaml-language-server: $schema="


@pytest.mark.parametrize(
    "path", sorted(SOURCES.rglob("*.yaml")), ids=lambda path: path.relative_to(SOURCES).as_posix()
)
def test_every_source_tells_editors_its_schema(path: Path):
    first = path.read_text().splitlines()[0]
    assert first.startswith(HEADER)
    schema = (path.parent / first.removeprefix(HEADER)).resolve()
    assert schema.is_file()
    kinds = {
        "registry.yaml": "registry.authoring",
        "policy.yaml": "policy",
        "_index.yaml": "tools_index.authoring",
    }
    kind = "skill" if path.name.endswith(".skill.yaml") else "tools"
    wanted = kinds.get(path.name, f"{kind}.authoring")
    assert schema == GENERATED / f"schemas/{wanted}.schema.json"


def test_every_domain_has_at_least_four_skills():
    catalog = SkillCatalog.load(GENERATED)
    domains = Counter(skill.name.partition(".")[0] for skill in catalog)
    assert domains.keys() == DOMAINS
    assert min(domains.values()) >= 4
    assert len(catalog) >= 12


def test_at_least_twenty_tools_and_fifty_cases():
    assert len(tools()) >= 20
    assert len(cases()) >= 50


def test_the_cases_show_every_fault_and_strategy():
    modes = {case.get("errorMode") for case in cases()}
    assert modes == {None, "throw", "timeout", "http_500", "flaky"}
    strategies = {case["match"]["strategy"] for case in cases()}
    assert strategies >= {"exact", "regex", "contains"}
    assert all("seed" in case for case in cases() if case.get("errorMode") == "flaky")
    failing = [case for case in cases() if case.get("errorMode")]
    assert all("errorCode" in case for case in failing)


def test_one_order_has_a_carrier_that_takes_three_seconds():
    slow = [case for case in cases() if case.get("latencyMsOverride", 0) >= 3000]
    assert [case["caseId"] for case in slow] == ["slow_carrier"]
    assert slow[0]["match"] == {"strategy": "exact", "expr": "$.order_id", "value": "ORD-1003"}


def test_a_declined_card_is_an_error_that_a_workflow_can_catch():
    [declined] = [case for case in cases() if case["caseId"] == "card_declined"]
    assert (declined["errorMode"], declined["errorCode"]) == ("throw", "CardDeclined")


def test_every_tool_is_used_and_every_schema_of_a_skill_is_full():
    used = set()
    for skill in SkillCatalog.load(GENERATED):
        assert skill.directives.strip()
        assert skill.description
        for tool in skill.tools:
            used.add(f"{tool.server_id}:{tool.tool_name}")
            assert tool.input_schema["properties"], f"{skill.name}: {tool.name} takes nothing"
    assert used == set(tools())


@pytest.mark.parametrize("name", ["order_id", "customer_id", "items", "currency", "address"])
def test_an_argument_has_the_same_type_in_every_tool(name: str):
    schemas = [
        tool["paramsSchema"]["properties"][name]
        for tool in tools().values()
        if name in tool["paramsSchema"]["properties"]
    ]
    assert len(schemas) >= 2
    assert len({schema["type"] for schema in schemas}) == 1


def test_the_registry_reaches_every_server_through_the_stub():
    registry = json.loads((GENERATED / "registry.json").read_bytes())
    assert registry["servers"].keys() == stub()["servers"].keys()
    for server_id, server in registry["servers"].items():
        assert server["transport"] == "streamable_http"
        assert server["endpoint"] == "${DCF_STUB_URL:-http://127.0.0.1:8765}"
        assert server["path"] == f"/mcp/{server_id}"


def test_the_example_of_the_guide_is_valid_and_complete(tmp_path: Path):
    guide = (SOURCES / "SKILLS.md").read_text()
    blocks = re.findall(r"```(?:yaml|markdown)\n# file: (\S+)\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) == 5
    for name, text in blocks:
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = generate_all(tmp_path / "src", tmp_path / "out")
    assert result.problems == ()
    skill = SkillCatalog.load(tmp_path / "out").resolve("greetings.welcome")
    assert [tool.name for tool in skill.tools] == [
        "find_language",
        "send_greeting",
        "list_greetings",
    ]


def test_the_guide_names_every_member_an_author_can_write():
    guide = (SOURCES / "SKILLS.md").read_text()
    for file in ("skill", "tools", "tools_index", "registry"):
        schema = json.loads(
            (REPOSITORY / f"dcf/skills/schemas/{file}.authoring.schema.json").read_bytes()
        )
        missing = [name for name in member_names(schema) if name not in guide]
        assert missing == [], file


def member_names(schema: Any) -> set[str]:
    names: set[str] = set()
    if isinstance(schema, dict):
        names |= set(schema.get("properties", {}))
        for part in schema.values():
            names |= member_names(part)
    return names
