"""Generation: everything or nothing, the same bytes each time, stale files gone."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from skill_samples import (
    INDEX_FILE,
    REGISTRY_FILE,
    SKILL,
    SKILL_FILE,
    SOURCES,
    TOOLS,
    TOOLS_FILE,
    edited,
    write_sources,
)

from dcf.skills import check_generated, generate_all


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def generated(root: Path, changes: dict[str, str] | None = None) -> Path:
    result = generate_all(write_sources(root / "src", changes), root / "out")
    assert result.ok, result.problems
    return root / "out"


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_what_is_written(tmp_path: Path):
    result = generate_all(write_sources(tmp_path / "src"), tmp_path / "out")
    assert result.ok
    assert set(result.written) == set(contents(tmp_path / "out"))
    assert [name for name in result.written if not name.startswith("schemas/")] == [
        "catalogs/skills_catalog.json",
        "manifests/skill.tea.brew-1.0.0.json",
        "registry.json",
        "skills.lock",
        "stub/stub_config.json",
        "tests/skill_tests.json",
    ]
    assert result.to_dict()["removed"] == []


def test_the_same_sources_give_the_same_bytes_and_touch_nothing(tmp_path: Path):
    out = generated(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.*")}
    again = generate_all(tmp_path / "src", out)
    assert again.written == again.removed == ()
    assert len(again.unchanged) == len(before)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.*")} == before


def test_a_checkout_with_crlf_gives_the_same_bytes_and_is_up_to_date(tmp_path: Path):
    """But for the files that a skill hands on: they are the author's, byte for byte."""
    out = generated(tmp_path)
    before = contents(out)
    for path in (*(tmp_path / "src").rglob("*.yaml"), *out.rglob("*.*")):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert check_generated(tmp_path / "src", out).ok
    assert generate_all(tmp_path / "src", out).written == ()
    generate_all(tmp_path / "src", tmp_path / "anew")
    assert contents(tmp_path / "anew") == before


def test_the_order_in_which_the_file_system_lists_files_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    more = {
        f"skills/d{n}/s{n}.skill.yaml": SKILL.replace("tea.brew", f"tea.brew{n}").replace(
            "file: notes.md", "text: x"
        )
        for n in range(8)
    }
    expected = contents(generated(tmp_path / "a", more))
    listed = Path.rglob

    def shuffled(self: Path, pattern: str) -> list[Path]:
        paths = list(listed(self, pattern))
        random.Random(5).shuffle(paths)
        return paths

    monkeypatch.setattr(Path, "rglob", shuffled)
    assert contents(generated(tmp_path / "b", dict(reversed(more.items())))) == expected


def test_the_hash_seed_of_the_process_does_not_matter(tmp_path: Path):
    write_sources(tmp_path / "src")
    code = "import sys, pathlib, dcf.skills as s; s.generate_all(*map(pathlib.Path, sys.argv[1:]))"
    for seed in ("1", "2"):
        arguments = [sys.executable, "-c", code, str(tmp_path / "src"), str(tmp_path / seed)]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    assert contents(tmp_path / "1") == contents(tmp_path / "2") != {}


def test_every_file_has_sorted_members_and_a_newline_at_its_end(tmp_path: Path):
    for data in contents(generated(tmp_path)).values():
        value = json.loads(data)
        text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False)
        assert data == f"{text}\n".encode()


def test_with_an_error_nothing_is_written_or_removed(tmp_path: Path):
    out = generated(tmp_path)
    before = contents(out)
    (tmp_path / "src" / "skills/kitchen/second.skill.yaml").write_text("kind: [")
    (tmp_path / "src" / TOOLS_FILE).write_text(TOOLS.replace("60", "61"))
    result = generate_all(tmp_path / "src", out)
    assert not result.ok
    assert result.written == result.removed == result.unchanged == ()
    assert contents(out) == before
    fresh = generate_all(tmp_path / "src", tmp_path / "fresh")
    assert not fresh.ok
    assert not (tmp_path / "fresh").exists()


def test_the_manifest_of_a_skill_that_is_gone_goes_too(tmp_path: Path):
    out = generated(tmp_path)
    source = tmp_path / "src" / SKILL_FILE
    source.write_text(SKILL.replace("1.0.0", "1.1.0"))
    result = generate_all(tmp_path / "src", out)
    assert result.removed == ("manifests/skill.tea.brew-1.0.0.json",)
    assert "manifests/skill.tea.brew-1.1.0.json" in result.written
    assert not (out / result.removed[0]).exists()


def test_a_stale_manifest_goes_even_without_the_lock_file(tmp_path: Path):
    out = generated(tmp_path)
    (out / "skills.lock").unlink()
    stale = out / "manifests/skill.old.thing-0.1.0.json"
    stale.write_text("{}")
    assert generate_all(tmp_path / "src", out).removed == ("manifests/skill.old.thing-0.1.0.json",)


def test_files_of_others_stay(tmp_path: Path):
    out = generated(tmp_path)
    foreign = ["manifests/README.md", "manifests/mine.json", "schemas/own.json", "notes.txt"]
    for name in foreign:
        (out / name).write_text("mine")
    lock = read(out / "skills.lock")
    outside = tmp_path / "outside.json"
    outside.write_text("mine")
    lock["artefacts"] |= {"../outside.json": "x", "notes.txt": "x", "schemas/../notes.txt": "x"}
    (out / "skills.lock").write_text(json.dumps(lock))
    assert generate_all(tmp_path / "src", out).removed == ()
    assert outside.read_text() == "mine"
    assert all((out / name).read_text() == "mine" for name in foreign)


@pytest.mark.parametrize("lock", ["", "[", "[]", '{"artefacts": []}', "[" * 100_000])
def test_a_damaged_lock_file_is_written_anew(tmp_path: Path, lock: str):
    out = generated(tmp_path)
    whole = (out / "skills.lock").read_bytes()
    (out / "skills.lock").write_text(lock)
    assert generate_all(tmp_path / "src", out).written == ("skills.lock",)
    assert (out / "skills.lock").read_bytes() == whole


def test_no_temporary_file_stays(tmp_path: Path):
    assert not [name for name in contents(generated(tmp_path)) if name.endswith(".tmp")]


def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path):
    (tmp_path / "out").write_text("a file stands in the way")
    result = generate_all(write_sources(tmp_path / "src"), tmp_path / "out")
    assert [problem.code for problem in result.problems] == ["SKILL_WRITE_FAILED"]


def test_the_lock_has_the_digest_of_every_source_and_artefact(tmp_path: Path):
    out = generated(tmp_path)
    lock = read(out / "skills.lock")
    for name in SOURCES:
        expected = hashlib.sha256((tmp_path / "src" / name).read_bytes()).hexdigest()
        assert lock["sources"][name] == f"sha256:{expected}"
    assert lock["sources"].keys() == SOURCES.keys()
    written = contents(out)
    del written["skills.lock"]
    digests = {name: f"sha256:{hashlib.sha256(data).hexdigest()}" for name, data in written.items()}
    assert lock["artefacts"] == digests


def test_every_tool_of_a_manifest_has_the_schema_of_its_source(tmp_path: Path):
    manifest = read(generated(tmp_path) / "manifests/skill.tea.brew-1.0.0.json")
    boil, pour = manifest["requiredTools"]
    assert boil["definition"] == {"type": "mcp_server", "serverId": "kettle", "toolName": "boil"}
    assert boil["json_schema"]["name"] == "boil"
    assert boil["json_schema"]["description"] == "Boil water."
    assert boil["json_schema"]["parameters"]["properties"]["cups"] == {"type": "integer"}
    assert boil["json_schema"]["parameters"]["required"] == ["cups"]
    assert boil["required"] is True
    assert pour["required"] is False
    assert pour["json_schema"]["parameters"] == {"type": "object", "properties": {}}


def test_a_manifest_keeps_what_the_author_wrote(tmp_path: Path):
    profile = (
        "  complexityProfile: { baseWCS: 7, maturityLevel: stable, dimensionScores:"
        " { horizon: 1, context: 1, tooling: 1, observability: 1, modality: 1, precision: 1,"
        " adaptability: 1 } }\n"
        "  dependencies: [skill.tea.heat@1.0.0]\n  dataSources"
    )
    changes = edited(SKILL_FILE, "  dataSources", profile)
    changes[SKILL_FILE] = changes[SKILL_FILE].replace("low }", "low, files: [src] }")
    changes["skills/heat.skill.yaml"] = SKILL.replace("tea.brew", "tea.heat").replace(
        "notes.md", "kitchen/notes.md"
    )
    manifest = read(generated(tmp_path, changes) / "manifests/skill.tea.brew-1.0.0.json")
    assert manifest["manifestApiVersion"] == "v2.1.0"
    assert manifest["skillPackageId"] is None
    assert manifest["permissions"] == {
        "egress": "none",
        "secrets": ["KETTLE_KEY"],
        "riskLevel": "low",
        "files": ["src"],
    }
    assert manifest["complexityProfile"]["baseWCS"] == 7
    assert manifest["dependencies"] == ["skill.tea.heat@1.0.0"]
    assert manifest["requiredDataSources"] == [
        {
            "dataSourceId": "notes",
            "destination": "archival_memory",
            "content": {"type": "text_content", "text": "Three minutes.\n"},
        }
    ]


def test_agents_see_tool_names_that_models_accept(tmp_path: Path):
    changes = {
        TOOLS_FILE: TOOLS.replace("      pour:", "      pour.out:"),
        **edited(SKILL_FILE, "kettle:pour", "kettle:pour.out"),
    }
    out = generated(tmp_path, changes)
    tool = read(out / "manifests/skill.tea.brew-1.0.0.json")["requiredTools"][1]
    assert tool["toolName"] == tool["json_schema"]["name"] == "pour_out"
    assert tool["definition"]["toolName"] == "pour.out"
    assert "pour.out" in read(out / "stub/stub_config.json")["servers"]["kettle"]["tools"]


def stub_cases(root: Path, cases: str, index: str | None = None) -> list[dict[str, Any]]:
    start = TOOLS.index("          - id: many")
    end = TOOLS.index("      pour:")
    changes = {TOOLS_FILE: TOOLS[:start] + cases + TOOLS[end:]}
    if index:
        changes[INDEX_FILE] = index
    config = read(generated(root, changes) / "stub/stub_config.json")
    tool: dict[str, Any] = config["servers"]["kettle"]["tools"]["boil"]
    cases_written: list[dict[str, Any]] = tool["cases"]
    return cases_written


def test_the_stub_keeps_the_types_of_compared_values(tmp_path: Path):
    cases = (
        "          - { id: a, match: { strategy: exact, path: cups, value: 9 } }\n"
        "          - { id: b, match: { strategy: exact, path: cups, value: '9' } }\n"
        "          - { id: c, match: { strategy: exact, path: label, value: 9 } }\n"
        "          - { id: d, match: { strategy: jsonpath, path: leaves, value: '[\"x\"]' } }\n"
        "          - { id: e, match: { strategy: always } }\n"
        "          - { id: f, match: { strategy: contains, value: x } }\n"
    )
    matches = [case["match"] for case in stub_cases(tmp_path, cases)]
    assert matches == [
        {"strategy": "exact", "expr": "$.cups", "value": 9},
        {"strategy": "exact", "expr": "$.cups", "value": 9},
        {"strategy": "exact", "expr": "$.label", "value": "9"},
        {"strategy": "jsonpath", "expr": "$.leaves", "value": ["x"]},
        {"strategy": "always", "expr": None, "value": None},
        {"strategy": "contains", "expr": None, "value": "x"},
    ]


def test_a_flaky_case_always_has_a_rate_and_a_seed(tmp_path: Path):
    cases = (
        "          - { id: a, match: { strategy: always }, errorMode: flaky }\n"
        "          - { id: b, match: { strategy: always }, errorMode: flaky, seed: 3,"
        " flakyRate: 0.5 }\n"
    )
    first = stub_cases(tmp_path / "1", cases)
    other = stub_cases(tmp_path / "2", cases, SOURCES[INDEX_FILE] + "seed: 99\n")
    assert [case["flakyRate"] for case in first] == [0.1, 0.5]
    assert first[1]["seed"] == other[1]["seed"] == 3
    assert first[0]["seed"] != other[0]["seed"]
    assert first[0]["response"] == {"degrees": 100}


def test_the_stub_gets_the_defaults_of_what_was_left_out(tmp_path: Path):
    config = read(generated(tmp_path) / "stub/stub_config.json")
    assert config["seed"] == 0
    assert config["servers"]["kettle"]["tools"]["pour"] == {
        "version": "0.1.0",
        "description": "Pour the water.",
        "paramsSchema": {"type": "object", "properties": {}},
        "resultSchema": {},
        "idempotent": False,
        "defaultResponse": None,
        "rateLimit": {"rps": 0},
        "latencyMs": {"default": 100},
        "cases": [],
    }


def test_variables_of_the_registry_are_never_filled_in_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KETTLE_KEY", "s3cret")
    entry = (
        '    headers: { Authorization: "Bearer ${KETTLE_KEY}" }\n    path: /mcp/kettle\n'
        "overrides:\n  staging:\n    kettle: { endpoint: '${KETTLE_URL:-http://kettle:1}' }\n"
    )
    out = generated(tmp_path, edited(REGISTRY_FILE, "    path: /mcp/kettle\n", entry))
    assert read(out / "registry.json") == {
        "env": "test",
        "servers": {
            "kettle": {
                "transport": "streamable_http",
                "endpoint": "http://127.0.0.1:8765",
                "path": "/mcp/kettle",
                "headers": {"Authorization": "Bearer ${KETTLE_KEY}"},
            }
        },
        "overrides": {"staging": {"kettle": {"endpoint": "${KETTLE_URL:-http://kettle:1}"}}},
    }
    assert not any(b"s3cret" in data for data in contents(out).values())


def test_checking_says_what_would_change_and_writes_nothing(tmp_path: Path):
    out = generated(tmp_path)
    assert check_generated(tmp_path / "src", out).written == ()
    (tmp_path / "src" / SKILL_FILE).write_text(SKILL.replace("1.0.0", "1.1.0"))
    before = contents(out)
    found = check_generated(tmp_path / "src", out)
    assert found.ok
    assert set(found.written) == {
        "catalogs/skills_catalog.json",
        "manifests/skill.tea.brew-1.1.0.json",
        "skills.lock",
    }
    assert found.removed == ("manifests/skill.tea.brew-1.0.0.json",)
    assert contents(out) == before
    assert not check_generated(tmp_path / "src", tmp_path / "nowhere").unchanged
    assert not (tmp_path / "nowhere").exists()


def test_the_lock_file_of_before_goes(tmp_path: Path):
    out = generated(tmp_path)
    (out / "skills.lock").rename(out / "skills.lock.json")
    (out / "schemas/gone.schema.json").write_text("{}")
    lock = read(out / "skills.lock.json")
    lock["artefacts"]["schemas/gone.schema.json"] = "sha256:0"
    (out / "skills.lock.json").write_text(json.dumps(lock))
    result = generate_all(tmp_path / "src", out)
    assert result.removed == ("schemas/gone.schema.json", "skills.lock.json")
    assert generate_all(tmp_path / "src", out).removed == ()


def test_a_file_of_others_with_the_name_of_the_former_lock_stays(tmp_path: Path):
    out = generated(tmp_path)
    (out / "skills.lock.json").write_text("[]")
    assert generate_all(tmp_path / "src", out).removed == ()
