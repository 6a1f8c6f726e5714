"""Sources in the shape of the earlier system pass as they are: the trees in ``legacy_skills``."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from dcf.skills import SkillCatalog, generate_all, validate_sources
from dcf.tools import Registry

TREES = Path(__file__).parent / "legacy_skills"
LIBRARY = TREES / "library"
SECRETS = {"MEMBERS_TOKEN": "m-1", "TRANSLATE_KEY": "t-1", "ARCHIVE_KEY": "a-1", "MAIL_TOKEN": "x"}


def generated(tree: Path, out: Path) -> Path:
    before = digests(tree)
    result = generate_all(tree, out)
    assert [problem for problem in result.problems if problem.is_error] == []
    assert result.ok
    assert digests(tree) == before
    return out


def digests(tree: Path) -> dict[str, str]:
    files = (path for path in tree.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def authored_cases() -> list[dict[str, Any]]:
    return [
        case
        for path in sorted((LIBRARY / "tools").glob("*.tools.yaml"))
        for server in yaml.safe_load(path.read_text())["servers"].values()
        for tool in server["tools"].values()
        for case in tool.get("cases", [])
    ]


def test_the_tree_has_the_shape_it_stands_for():
    skills = sorted((LIBRARY / "skills").rglob("*.skill.yaml"))
    assert len(skills) == 15
    assert any(len(path.relative_to(LIBRARY / "skills").parts) == 3 for path in skills)
    profiles = [path for path in skills if "complexityProfile" in path.read_text()]
    assert len(profiles) == 3
    index = yaml.safe_load((LIBRARY / "tools/_index.yaml").read_text())
    assert len(index["files"]) == len(list((LIBRARY / "tools").glob("*.tools.yaml"))) == 9
    assert len(yaml.safe_load((LIBRARY / "registry.yaml").read_text())["servers"]) == 9
    cases = authored_cases()
    assert len(cases) == 54
    strategies = Counter(case["match"]["strategy"] for case in cases)
    assert strategies == {"exact": 24, "regex": 16, "contains": 7, "always": 6, "jsonpath": 1}
    assert all(isinstance(case["match"].get("value", ""), str) for case in cases)
    members = {member for case in cases for member in case}
    assert members >= {"errorMode", "flakyRate", "weight", "latencyMsOverride", "responseTemplate"}
    assert {case.get("errorMode") for case in cases} >= {"throw", "timeout", "http_500", "flaky"}
    sources = "".join(path.read_text() for path in LIBRARY.rglob("*.yaml"))
    assert "yaml-language-server" not in sources


@pytest.mark.parametrize("tree", ["library", "kiosk"])
def test_it_passes_validation_with_warnings_at_most(tree: str):
    assert [str(found) for found in validate_sources(TREES / tree) if found.is_error] == []


def test_every_skill_can_be_loaded(tmp_path: Path):
    catalog = SkillCatalog.load(generated(LIBRARY, tmp_path))
    assert len(catalog) == 15
    assert all(tool.input_schema["properties"] for skill in catalog for tool in skill.tools)
    book = catalog.resolve("find.book")
    assert [(one.id, one.destination) for one in book.data_sources] == [
        ("shelves", "working_memory")
    ]
    assert "upstairs" in book.data_sources[0].text
    fine = catalog.resolve("skill://skill.collect_fine@0.1.0")
    assert fine.raw["complexityProfile"]["successRateByTier"]["tier1"] == 0.93
    assert (fine.permissions.risk_level, fine.permissions.egress) == ("high", "internet")


def test_quoted_values_take_the_type_of_the_argument(tmp_path: Path):
    stub = read(generated(LIBRARY, tmp_path) / "stub/stub_config.json")
    values = {
        case["caseId"]: case["match"]["value"]
        for server in stub["servers"].values()
        for tool in server["tools"].values()
        for case in tool["cases"]
    }
    assert len(values) == 54
    assert values["only_one"] == 1 and isinstance(values["only_one"], int)
    assert values["lent_too"] is False
    assert values["exact_amount"] == 2.5
    assert values["a_week_and_a_half"] == 1.5
    assert values["ada"] == "M-1001"
    assert values["seventh"] == "F-7"
    assert values["music"] == "piano"


def test_of_a_tool_in_two_files_the_later_holds(tmp_path: Path):
    stub = read(generated(LIBRARY, tmp_path) / "stub/stub_config.json")
    tools = stub["servers"]["catalogue"]["tools"]
    assert set(tools) == {"search_books", "get_book"}
    assert tools["get_book"]["description"] == "Read the card of one book."
    assert stub["servers"]["catalogue"]["description"] == "Books of the town library"


@pytest.mark.parametrize(
    ("env", "url"),
    [("test", "http://localhost:8765/mcp"), ("production", "https://members.example.org/mcp/v1")],
)
def test_the_registry_is_read_with_variables_and_overrides(tmp_path: Path, env: str, url: str):
    out = generated(LIBRARY, tmp_path)
    document = read(out / "registry.json") | {"env": env}
    (out / "registry.json").write_text(json.dumps(document))
    registry = Registry.load(out / "registry.json", SECRETS)
    assert len(registry.ids()) == 9
    members = registry.server("members")
    assert members.url == url
    assert members.headers["Authorization"] == "Bearer m-1"
    assert registry.server("events").transport == "sse"
    assert registry.server("translate").args[-1] == "t-1"


def test_no_secret_is_in_any_generated_file(tmp_path: Path):
    out = generated(LIBRARY, tmp_path)
    assert "${MEMBERS_TOKEN}" in (out / "registry.json").read_text()


def test_the_older_form_with_one_tools_file_passes_too(tmp_path: Path):
    out = generated(TREES / "kiosk", tmp_path)
    [case] = read(out / "stub/stub_config.json")["servers"]["kiosk"]["tools"]["sell_paper"]["cases"]
    assert case["match"] == {"strategy": "exact", "expr": "$.copies", "value": 2}
