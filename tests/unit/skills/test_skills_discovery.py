"""Skills are found by what is to be done, with the reason and the price, among those allowed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from dcf.search import EmptyQuery, count_tokens, embedder_named
from dcf.skills import Manifest
from dcf.skills.discovery import (
    Filters,
    InvalidFilter,
    SkillSearch,
    Wanted,
    get_skillset,
    get_skillset_from_catalog,
    index_path,
    price_of,
)


def document(name: str, version: str = "1.0.0", **fields: Any) -> dict[str, Any]:
    tool = fields.pop("tool", None)
    tools = [
        {
            "toolName": tool,
            "description": f"Does {tool}.",
            "definition": {"type": "mcp_server", "serverId": "desk", "toolName": tool},
            "json_schema": {
                "name": tool,
                "description": f"Does {tool}.",
                "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}},
            },
        }
    ]
    return {
        "manifestApiVersion": "v2.1.0",
        "skillPackageId": None,
        "manifestId": f"skill.{name}@{version}",
        "skillName": name,
        "skillVersion": version,
        "skillDirectives": "Do it with care.",
        "requiredTools": tools if tool else [],
        **fields,
    }


REFUND = document(
    "desk.refund",
    description="Give money back.",
    tags=["payments", "Desk"],
    tool="refund_payment",
    permissions={"egress": "internet", "secrets": ["PAY_KEY"], "riskLevel": "high"},
)
ANSWER = document(
    "desk.answer",
    description="Write a reply to a customer.",
    tags=["desk"],
    permissions={"egress": "intranet", "secrets": [], "riskLevel": "medium"},
)
ANSWER_2 = {**ANSWER, **document("desk.answer", "2.1.0", description="Write a kind reply.")}
ANSWER_3 = {**ANSWER, **document("desk.answer", "3.0.0-rc.1", description="Write a short reply.")}
TEA = document("kitchen.tea", description="Brew tea.", tags=["kitchen"])
DOCUMENTS = (REFUND, ANSWER, ANSWER_2, ANSWER_3, TEA)
SKILLS = [Manifest.from_document(one) for one in DOCUMENTS]


@pytest.fixture
def search(tmp_path: Path) -> SkillSearch:
    return SkillSearch(tmp_path / "index.db", embedder_named("wordllama"))


def names(search: SkillSearch, query: str, filters: Filters) -> set[str]:
    hits = search.search(SKILLS, query, 10, filters)
    return {f"{hit.manifest.name}@{hit.manifest.version}" for hit in hits}


def test_a_hit_says_why_it_was_found(search: SkillSearch) -> None:
    hit = search.search(SKILLS, "refund the payment", 1)[0]
    assert hit.manifest.name == "desk.refund"
    assert hit.matched == {
        "name": ["refund"],
        "tags": ["payment"],
        "tools": ["refund", "payment"],
    }
    assert 0 < hit.similarity <= 1


def test_a_skill_is_found_by_its_meaning_alone(search: SkillSearch) -> None:
    hit = search.search(SKILLS, "reimburse cash", 1)[0]
    assert (hit.manifest.name, dict(hit.matched)) == ("desk.refund", {})


def test_the_price_is_what_loading_adds(search: SkillSearch) -> None:
    source = {
        "dataSourceId": "rules",
        "destination": "archival_memory",
        "content": {"type": "text_content", "text": "Never twice."},
    }
    skill = Manifest.from_document({**REFUND, "requiredDataSources": [source]})
    price = price_of(skill)
    assert price.directives == count_tokens("Do it with care.")
    assert price.data == count_tokens("Never twice.")
    assert price.tools > count_tokens("refund_payment Does refund_payment. amount integer")
    assert price.to_json()["tokens"] == price.directives + price.data + price.tools


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(tags=("desk",)), {"desk.refund@1.0.0", "desk.answer@2.1.0"}),
        (Filters(tags=("desk", "PAYMENTS")), {"desk.refund@1.0.0"}),
        (Filters(max_risk="low"), {"kitchen.tea@1.0.0"}),
        (Filters(max_risk="medium"), {"kitchen.tea@1.0.0", "desk.answer@2.1.0"}),
        (Filters(max_egress="none"), {"kitchen.tea@1.0.0"}),
        (Filters(secrets=frozenset()), {"kitchen.tea@1.0.0", "desk.answer@2.1.0"}),
        (Filters(versions="^1"), {"desk.refund@1.0.0", "desk.answer@1.0.0", "kitchen.tea@1.0.0"}),
        (Filters(versions=">=3.0.0-rc.0"), {"desk.answer@3.0.0-rc.1"}),
        (Filters(versions="^9"), set()),
    ],
)
def test_filters_leave_out_what_is_not_allowed(
    search: SkillSearch, filters: Filters, found: set[str]
) -> None:
    assert names(search, "reply", filters) == found


def test_all_versions_are_found_when_asked_for(search: SkillSearch) -> None:
    found = names(search, "reply", Filters(tags=("desk",), newest_only=False))
    assert found == {f"desk.answer@{v}" for v in ("1.0.0", "2.1.0", "3.0.0-rc.1")} | {
        "desk.refund@1.0.0"
    }


def test_a_skill_with_a_pre_release_only_is_found(search: SkillSearch) -> None:
    hits = search.search([Manifest.from_document(ANSWER_3)], "reply")
    assert [hit.manifest.version for hit in hits] == ["3.0.0-rc.1"]


def test_all_that_is_wrong_with_a_filter_is_said_at_once() -> None:
    with pytest.raises(InvalidFilter) as caught:
        Filters(max_risk="huge", max_egress="moon", versions="newest")
    assert [problem.path for problem in caught.value.problems] == [
        "/max_risk",
        "/max_egress",
        "/versions",
    ]


def test_the_index_follows_the_catalog(search: SkillSearch) -> None:
    search.search(SKILLS, "tea")
    assert search.change.added == len(SKILLS)
    search.search(SKILLS, "tea")
    assert search.change.embedded == 0
    changed = Manifest.from_document({**TEA, "skillDirectives": "Use a samovar."})
    hits = search.search([*SKILLS[:-1], changed], "samovar", 1)
    assert (search.change.changed, search.change.embedded) == (1, 0)
    assert hits[0].matched == {"directives": ["samovar"]}


def test_a_file_that_is_damaged_between_two_searches_costs_only_time(search: SkillSearch) -> None:
    search.search(SKILLS, "tea")
    search.index.path.write_text("no database" * 500)
    assert search.search(SKILLS, "tea", 1)[0].manifest.name == "kitchen.tea"


def test_an_empty_query_is_refused(search: SkillSearch) -> None:
    with pytest.raises(EmptyQuery):
        search.search(SKILLS, " ")


def test_each_folder_and_embedder_has_an_index_of_its_own(tmp_path: Path) -> None:
    paths = {index_path(tmp_path, tmp_path / one, e) for one in "ab" for e in ("none", "minilm")}
    assert len(paths) == 4


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    folder = tmp_path / "manifests"
    folder.mkdir()
    for number, one in enumerate(DOCUMENTS):
        (folder / f"{number}.json").write_text(json.dumps(one), encoding="utf-8")
    return folder


FIELDS = {
    "manifestId", "skillPackageId", "skillName", "skillVersion", "manifestApiVersion", "aliases",
    "description", "tags", "permissions", "toolNames", "toolCount", "dataSourceCount",
    "directives_preview", "path", "valid_schema", "errors", "warnings",
}  # fmt: skip


def test_a_skill_set_lists_every_manifest_of_a_folder_in_order(manifests: Path) -> None:
    answer = get_skillset(manifests, preview_chars=5)
    assert (answer["ok"], answer["exit_code"], answer["error"]) == (True, 0, None)
    items = answer["available_skills"]
    assert all(set(item) == FIELDS for item in items)
    assert [(item["skillName"], item["skillVersion"]) for item in items] == [
        ("desk.answer", "1.0.0"),
        ("desk.answer", "2.1.0"),
        ("desk.answer", "3.0.0-rc.1"),
        ("desk.refund", "1.0.0"),
        ("kitchen.tea", "1.0.0"),
    ]
    refund = items[3]
    assert refund["toolNames"] == ["refund_payment"]
    assert refund["permissions"]["secrets"] == ["PAY_KEY"]
    assert refund["directives_preview"] == "Do it…"
    assert refund["valid_schema"] is None
    assert refund["aliases"] == [
        "desk.refund@1.0.0",
        "skill://desk.refund@1.0.0",
        "skill.desk.refund@1.0.0",
    ]


def test_a_bad_manifest_is_an_entry_with_errors(manifests: Path) -> None:
    (manifests / "broken.json").write_text("{")
    (manifests / "list.json").write_text("[]")
    (manifests / "nameless.json").write_text('{"manifestId": "skill.x@1.0.0", "tags": 3}')
    (manifests / "folder.json").mkdir()
    answer = get_skillset(manifests)
    assert answer["ok"]
    errors = {
        Path(item["path"]).name: item["errors"][0].split(":")[0]
        for item in answer["available_skills"]
        if item["errors"]
    }
    assert errors == {
        "broken.json": "JSONDecodeError",
        "list.json": "ManifestLoadError",
        "nameless.json": "Missing required fields",
        "folder.json": "FileError",
    }
    found = get_skillset(manifests, wanted=Wanted(query="brew tea", limit=1))
    assert [item["skillName"] for item in found["available_skills"]] == ["kitchen.tea"]
    assert len(found["warnings"]) == 4


def test_a_skill_set_can_be_searched_and_filtered(manifests: Path) -> None:
    wanted = Wanted(query="give the money back", tags=("desk",), max_risk="high", limit=2)
    items = get_skillset(manifests, wanted=wanted)["available_skills"]
    assert items[0]["skillName"] == "desk.refund"
    assert len(items) == 2
    assert set(items[0]) == FIELDS | {"score", "why", "price"}
    low = get_skillset(manifests, wanted=Wanted(max_risk="low"))["available_skills"]
    assert [item["skillName"] for item in low] == ["kitchen.tea"]


@pytest.mark.parametrize("wanted", [Wanted(query=" "), Wanted(max_risk="huge")])
def test_a_wish_that_cannot_be_met_is_an_error(manifests: Path, wanted: Wanted) -> None:
    answer = get_skillset(manifests, wanted=wanted)
    assert (answer["ok"], answer["exit_code"], answer["status"]) == (False, 4, None)
    assert answer["error"]


def test_a_schema_is_asked_where_one_is_given(manifests: Path, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"required": ["tags"]}')
    items = get_skillset(manifests, schema)["available_skills"]
    assert [item["valid_schema"] for item in items] == [True, True, True, True, True]
    schema.write_text('{"required": ["nothing"]}')
    assert get_skillset(manifests, schema)["available_skills"][0]["valid_schema"] is False
    assert get_skillset(manifests, tmp_path / "none.json")["warnings"]


def test_a_catalog_is_listed_from_the_paths_it_gives(manifests: Path, tmp_path: Path) -> None:
    catalog = tmp_path / "catalogs" / "catalog.json"
    catalog.parent.mkdir()
    entries = [
        {"path": "../manifests/0.json"},
        {"path": str(manifests / "4.json")},
        {"path": (manifests / "1.json").as_uri()},
        {"path": "gone.json", "skillName": "lost", "manifestId": "skill.lost@1.0.0"},
        {"skillName": "no path"},
    ]
    catalog.write_text(json.dumps({"skills": entries}))
    answer = get_skillset_from_catalog(catalog)
    assert [item["skillName"] for item in answer["available_skills"]] == [
        "desk.answer",
        "desk.refund",
        "kitchen.tea",
        "lost",
    ]
    assert answer["available_skills"][3]["errors"] == ["FileError: No such file or directory"]
    assert answer["available_skills"][0]["directives_preview"] is None
    assert answer["warnings"] == ["skills[4] of the catalog has no path"]


@pytest.mark.parametrize("content", [None, "{", "{}", '{"skills": {}}'])
def test_a_catalog_that_is_none_is_an_error(tmp_path: Path, content: str | None) -> None:
    catalog = tmp_path / "catalog.json"
    if content is not None:
        catalog.write_text(content)
    answer = get_skillset_from_catalog(catalog)
    assert (answer["ok"], answer["exit_code"]) == (False, 4)
    assert str(catalog) in answer["error"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    assert "there is no folder" in get_skillset(tmp_path / "none")["error"]


@pytest.mark.parametrize(
    "query", ["a" * 200_000, "refund " * 30_000, "(" * 50_000 + "tea", "a* OR " * 9_000]
)
def test_no_request_holds_the_index_up(search: SkillSearch, query: str) -> None:
    search.search(SKILLS, "tea", 3)
    started = time.process_time()
    search.search(SKILLS, query, 3)
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "versions", ["1 " * 50_000, ">" * 50_000, "1||" * 50_000, "1.2.3-" + "a." * 50_000 + "+"]
)
def test_no_range_of_versions_holds_the_index_up(versions: str) -> None:
    started = time.process_time()
    with pytest.raises(InvalidFilter):
        Filters(versions=versions)
    assert time.process_time() - started < 1


def test_schemas_and_texts_of_skills_do_not_hold_the_index_up(search: SkillSearch) -> None:
    """What a skill says of its tools is text here: no pattern of it is searched with, and no
    reference followed."""
    twice = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(40)
    }
    strange = document("strange", tool="strange", description="b" * 100_000 + " ((a+)+)+$ tea")
    parameters = strange["requiredTools"][0]["json_schema"]["parameters"]
    parameters.update({"$defs": twice, "$ref": "#/$defs/d0"})
    parameters["properties"] = {"a": {"type": "string", "pattern": "^(a+)+$"}}
    started = time.process_time()
    manifest = Manifest.from_document(strange)
    found = search.search([*SKILLS, manifest], "strange a" + "a" * 5_000 + "#", 5)
    assert found[0].manifest == manifest
    price_of(manifest)
    assert time.process_time() - started < 3


def test_a_manifest_is_checked_again_when_it_changed_and_else_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(document("desk.once")))
    first = get_skillset(tmp_path)
    monkeypatch.setattr(Manifest, "from_document", lambda *_: 1 / 0)
    assert get_skillset(tmp_path) == first
    # What was listed before belongs to who asked for it.
    first["available_skills"][0]["tags"].append("mine")
    first["available_skills"][0]["errors"].append("mine")
    assert "mine" not in json.dumps(get_skillset(tmp_path))
    monkeypatch.undo()
    file.write_text(json.dumps(document("desk.twice")))
    assert get_skillset(tmp_path)["available_skills"][0]["skillName"] == "desk.twice"
