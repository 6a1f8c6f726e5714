"""The pipeline over the wire, and that its paths stay in the platform's folders."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from integration.workspace.tree import write_skill, write_tree
from integration.workspace.wire import wire


async def test_everything_is_generated(redis_url: str, tmp_path: Path) -> None:
    write_tree(tmp_path)
    async with wire(redis_url, tmp_path) as tools:
        made = await tools.good("generate_all")
        assert (made["ok"], made["exit_code"], made["status"]) == (True, 0, "generated")
        assert "registry.json" in made["written"]
        assert made["manifests_result"]["ok"] is True
        again = await tools.good("generate_all")
        assert (again["written"], again["removed"]) == ([], [])


async def test_the_parts_write_their_parts(redis_url: str, tmp_path: Path) -> None:
    write_tree(tmp_path)
    generated = tmp_path / "generated"
    async with wire(redis_url, tmp_path) as tools:
        manifests = await tools.good("yaml_to_manifests")
        assert [one["skillName"] for one in manifests["manifests"]] == [
            "books.lend", "books.look_up", "books.weed",
        ]  # fmt: skip
        assert (generated / "catalogs" / "skills_catalog.json").is_file()
        stub = await tools.good(
            "yaml_to_stub_config", tools_yaml_path="skills_src/tools/_index.yaml"
        )
        assert (stub["tool_count"], stub["case_count"]) == (2, 1)
        assert stub["written_file"] == str(generated / "stub" / "stub_config.json")
        registry = await tools.good("yaml_to_registry")
        assert registry["server_count"] == 1
        assert (generated / "registry.json").is_file()
        schemas = await tools.good("yaml_to_schemas")
        assert schemas["written_files"]


async def test_mistakes_are_all_told_and_nothing_is_written(redis_url: str, tmp_path: Path) -> None:
    root = write_tree(tmp_path)
    write_skill(root, "books.lend", "Lend.", ["none"])
    write_skill(root, "books.weed", "Weed.", ["neither"])
    async with wire(redis_url, tmp_path) as tools:
        answer = await tools.call("generate_all")
        assert str(answer["error"]).startswith("invalid_sources: 2 errors")
        assert len(answer["problems"]) == 2
        assert all(one["file"] and one["line"] for one in answer["problems"])
        assert not (tmp_path / "generated").exists()
        part = await tools.call("yaml_to_manifests")
        assert (part["ok"], part["exit_code"], part["written_files"]) == (False, 4, [])


OUTSIDE = ["/etc", "..", "../other", "skills_src/../../other", "generated/../../x", "file:///etc",
           "link/x", "/tmp"]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
async def test_paths_stay_in_the_folders_of_the_platform(
    redis_url: str, tmp_path: Path, path: str
) -> None:
    home = tmp_path / "home"
    write_tree(home)
    (home / "workspace").mkdir()
    (home / "workspace" / "link").symlink_to(tmp_path)
    async with wire(redis_url, home) as tools:
        for name, parameters in {
            "generate_all": ["skills_src_dir", "generated_dir"],
            "yaml_to_manifests": ["skills_dir", "tools_yaml_path", "out_dir", "catalog_path"],
            "yaml_to_stub_config": ["tools_yaml_path", "out_path"],
            "yaml_to_registry": ["registry_yaml_path", "out_path"],
            "yaml_to_schemas": ["out_dir"],
            "validate_skill_manifest": ["skill_json"],
        }.items():
            for parameter in parameters:
                answer = await tools.call(name, **{parameter: path})
                assert str(answer["error"]).startswith("outside_root: "), (name, parameter, answer)
    assert [one.name for one in tmp_path.iterdir()] == ["home"]


async def test_what_agents_write_is_not_generated_into_the_platform(
    redis_url: str, tmp_path: Path
) -> None:
    """It could name programs to start."""
    write_tree(tmp_path)
    (tmp_path / "workspace").mkdir()
    write_tree(tmp_path / "workspace")
    async with wire(redis_url, tmp_path) as tools:
        assert (
            await tools.refused("generate_all", skills_src_dir="workspace/skills_src")
            == "outside_root"
        )
        made = await tools.good(
            "generate_all", skills_src_dir="workspace/skills_src", generated_dir="workspace/out"
        )
        assert made["written"]
        assert (tmp_path / "workspace" / "out" / "registry.json").is_file()
        assert not (tmp_path / "generated").exists()


async def test_a_manifest_is_checked(redis_url: str, tmp_path: Path) -> None:
    write_tree(tmp_path)
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("generate_all")
        file = tmp_path / "generated" / "manifests" / "skill.books.lend-1.0.0.json"
        text = file.read_text()
        for given in (text, json.loads(text), str(file), "generated/manifests/" + file.name):
            good = await tools.good("validate_skill_manifest", skill_json=given, schema_path="x")
            assert (good["status"], good["exit_code"], good["schema_errors"]) == ("valid", 0, [])
            assert good["warnings"]
        broken = json.loads(text)
        del broken["skillName"]
        answer = await tools.call("validate_skill_manifest", skill_json=broken)
        assert (answer["status"], answer["exit_code"]) == ("invalid", 1)
        assert "skillName" in answer["schema_errors"][0]
        twice = json.loads(text)
        twice["requiredTools"] *= 2
        answer = await tools.call("validate_skill_manifest", skill_json=twice)
        assert (answer["exit_code"], len(answer["static_errors"])) == (2, 1)
        for given in ("{", "[]", "generated/none.json"):
            answer = await tools.call("validate_skill_manifest", skill_json=given)
            assert answer["exit_code"] == 4


async def test_a_manifest_that_nobody_could_read_to_its_end_is_refused(
    redis_url: str, tmp_path: Path
) -> None:
    manifests = write_tree(tmp_path).parent / "generated" / "manifests"
    manifests.mkdir(parents=True)
    os.mkfifo(manifests / "pipe.json")
    (manifests / "large.json").write_bytes(b" " * (1024 * 1024 + 1))
    async with wire(redis_url, tmp_path) as tools:
        pipe = await tools.call("validate_skill_manifest", skill_json=str(manifests / "pipe.json"))
        assert pipe["error"].endswith("pipe.json cannot be read: it is no regular file")
        large = await tools.call(
            "validate_skill_manifest", skill_json=str(manifests / "large.json")
        )
        assert large["error"].endswith("large.json has more than 1048576 bytes")


async def test_skills_are_tested(redis_url: str, tmp_path: Path) -> None:
    write_tree(tmp_path)
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("generate_all")
        tested = await tools.good("run_skill_tests")
        assert (tested["status"], tested["outcomes"]) == ("passed", [])
        assert tested["counts"]["failed"] == 0
        assert {one["skill"] for one in tested["coverage"]} >= {"skill.books.lend@1.0.0"}
        one = await tools.good("run_skill_tests", skills_json=["books.lend"], all_outcomes=True)
        assert {check["tool"] for check in one["outcomes"]} == {"books:find"}
        assert await tools.refused("run_skill_tests", skills_json=["books.none"])
        assert await tools.refused("run_skill_tests", tools_json=["books:none"])
