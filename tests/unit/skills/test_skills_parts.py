"""The pipeline under the names of the earlier system, with its answers."""

from __future__ import annotations

import json
from pathlib import Path

from skill_samples import INDEX_FILE, SKILL, SKILL_FILE, TOOLS, TOOLS_FILE, write_sources

from dcf.skills import (
    generate_all,
    yaml_to_manifests,
    yaml_to_registry,
    yaml_to_schemas,
    yaml_to_stub_config,
)


def test_manifests_and_catalog_are_those_of_the_whole_pipeline(tmp_path: Path):
    root, whole, part = write_sources(tmp_path / "src"), tmp_path / "whole", tmp_path / "part"
    assert generate_all(root, whole).ok
    result = yaml_to_manifests(
        str(root / "skills"),
        str(root / "tools.yaml"),
        str(part / "manifests"),
        str(part / "catalogs/skills_catalog.json"),
    )
    assert (result["ok"], result["exit_code"], result["error"]) == (True, 0, None)
    assert [entry["manifestId"] for entry in result["manifests"]] == ["skill.tea.brew@1.0.0"]
    assert result["written_files"] == [
        str(part / "manifests/skill.tea.brew-1.0.0.json"),
        str(part / "catalogs/skills_catalog.json"),
    ]
    for file in result["written_files"]:
        name = Path(file).relative_to(part)
        assert Path(file).read_bytes() == (whole / name).read_bytes()


def test_a_catalog_elsewhere_still_leads_to_the_manifests(tmp_path: Path):
    root = write_sources(tmp_path / "src")
    assert yaml_to_manifests(
        root / "skills", root / "tools.yaml", tmp_path / "out/m", tmp_path / "out/catalogs/c.json"
    )["ok"]
    [entry] = json.loads((tmp_path / "out/catalogs/c.json").read_bytes())["skills"]
    assert (tmp_path / "out/catalogs" / entry["path"]).is_file()


def test_the_stub_configuration_comes_from_an_index_or_one_file(tmp_path: Path):
    root = write_sources(tmp_path / "src", {"tools.yaml": TOOLS})
    for given in (INDEX_FILE, "tools.yaml"):
        out = tmp_path / "stub.json"
        result = yaml_to_stub_config(root / given, out)
        assert (result["tool_count"], result["case_count"]) == (2, 1)
        assert result["written_file"] == str(out)
        assert "kettle" in json.loads(out.read_bytes())["servers"]


def test_the_registry_and_the_schemas_have_parts_of_their_own(tmp_path: Path):
    root = write_sources(tmp_path / "src")
    registry = yaml_to_registry(root / "registry.yaml", tmp_path / "registry.json")
    assert (registry["ok"], registry["server_count"]) == (True, 1)
    schemas = yaml_to_schemas(tmp_path / "old", tmp_path / "schemas")
    assert schemas["ok"]
    assert len(schemas["warnings"]) == 1
    assert all(Path(file).is_file() for file in schemas["written_files"])


def test_with_an_error_a_part_writes_nothing_and_says_why(tmp_path: Path):
    root = write_sources(tmp_path / "src", {SKILL_FILE: SKILL.replace("kettle:pour", "kettle:por")})
    result = yaml_to_manifests(
        root / "skills", root / "tools.yaml", tmp_path / "out/m", tmp_path / "out/c.json"
    )
    assert (result["ok"], result["exit_code"]) == (False, 4)
    assert "kettle:por" in result["error"]
    assert result["written_files"] == []
    assert not (tmp_path / "out").exists()


def test_tools_of_another_folder_are_refused(tmp_path: Path):
    root = write_sources(tmp_path / "src")
    result = yaml_to_manifests(root / "skills", tmp_path / "other/tools.yaml", tmp_path, tmp_path)
    assert not result["ok"]
    assert "SKILL_SOURCE_LAYOUT" in result["error"]


def test_the_whole_pipeline_reports_its_parts(tmp_path: Path):
    changes = {TOOLS_FILE: TOOLS.replace("degrees: 60", "degrees: warm")}
    result = generate_all(write_sources(tmp_path / "src", changes), tmp_path / "out").to_dict()
    assert result["ok"]
    for part in ("manifests", "stub_config", "registry", "schemas"):
        assert result[f"{part}_result"]["ok"], part
    assert "TOOL_ANSWER_MISMATCH" in result["stub_config_result"]["warnings"][0]
    assert result["summary"] == "skills: 1, tools: 2, cases: 1, servers: 1"
    json.dumps(result)


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path):
    root = write_sources(tmp_path / "src")
    (tmp_path / "out").write_text("in the way")
    for result in (
        yaml_to_registry(root / "registry.yaml", tmp_path / "out/registry.json"),
        yaml_to_schemas(None, tmp_path / "out/schemas"),
    ):
        assert not result["ok"]
        assert "SKILL_WRITE_FAILED" in result["error"]
