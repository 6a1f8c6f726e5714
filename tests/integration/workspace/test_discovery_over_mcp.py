"""Finding skills over the wire."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from integration.workspace.tree import write_skill, write_tree
from integration.workspace.wire import wire

NAMES = ["books.lend", "books.look_up", "books.weed"]


async def test_all_skills_are_listed(redis_url: str, tmp_path: Path) -> None:
    write_tree(tmp_path)
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("generate_all")
        for name in ("get_skillset", "get_skillset_from_catalog"):
            found = await tools.good(name, preview_chars=6)
            assert [one["skillName"] for one in found["available_skills"]] == NAMES
            assert found["available_skills"][0]["directives_preview"] == "Lend a…"
            assert (found["ok"], found["exit_code"], found["warnings"]) == (True, 0, [])
            risky = await tools.good(name, max_risk="low", include_previews=False)
            assert [one["skillName"] for one in risky["available_skills"]] == NAMES[:2]
            tagged = await tools.good(name, tags=["weed"])
            assert [one["skillName"] for one in tagged["available_skills"]] == NAMES[2:]


async def test_a_wish_finds_the_skill_and_follows_what_is_generated(
    redis_url: str, tmp_path: Path
) -> None:
    root = write_tree(tmp_path)
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("generate_all")
        for name in ("get_skillset", "get_skillset_from_catalog"):
            found = await tools.good(name, query="lend somebody a book", limit=1)
            (best,) = found["available_skills"]
            assert best["skillName"] == "books.lend"
            assert best["price"]["tokens"] > 0
            assert best["why"]["matched"]
        write_skill(root, "books.bind", "Bind loose pages with thread.", ["find"])
        await tools.good("generate_all")
        found = await tools.good("get_skillset", query="bind loose pages", limit=1)
        assert found["available_skills"][0]["skillName"] == "books.bind"


def manifest(name: str, version: str, egress: str, secrets: list[str], risk: str) -> str:
    permissions = {"egress": egress, "secrets": secrets, "riskLevel": risk}
    return json.dumps(
        {
            "manifestApiVersion": "v2.1.0",
            "skillPackageId": None,
            "manifestId": f"skill.{name}@{version}",
            "skillName": name,
            "skillVersion": version,
            "skillDirectives": f"Do what {name} is for.",
            "requiredTools": [],
            "permissions": permissions,
        }
    )


async def test_filters_hold_over_the_wire_with_a_wish_and_without(
    redis_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "generated" / "manifests"
    folder.mkdir(parents=True)
    for number, kind in enumerate(
        (
            ("desk.count", "1.0.0", "none", [], "low"),
            ("desk.count", "2.1.0", "none", [], "low"),
            ("desk.print", "1.4.0", "intranet", ["INK"], "medium"),
            ("desk.send", "1.0.0", "internet", ["INK", "MAIL"], "high"),
        )
    ):
        (folder / f"{number}.json").write_text(manifest(*kind))
    everything = ["count@1.0.0", "count@2.1.0", "print@1.4.0", "send@1.0.0"]
    wanted: list[tuple[dict[str, object], list[str]]] = [
        ({}, everything),
        ({"max_egress": "none"}, everything[:2]),
        ({"max_egress": "intranet"}, everything[:3]),
        ({"secrets": []}, everything[:2]),
        ({"secrets": ["INK"]}, everything[:3]),
        ({"secrets": ["INK", "MAIL"]}, everything),
        ({"max_risk": "medium"}, everything[:3]),
        ({"versions": "^1.0"}, [everything[0], *everything[2:]]),
        ({"versions": ">=1.4"}, everything[1:3]),
        ({"versions": "^1.0", "max_egress": "intranet", "secrets": ["INK"]},
         [everything[0], everything[2]]),
        ({"tags": ["none"]}, []),
    ]  # fmt: skip
    async with wire(redis_url, tmp_path) as tools:
        for filters, names in wanted:
            for query in ({}, {"query": "what is the desk for"}):
                found = (await tools.good("get_skillset", **filters, **query))["available_skills"]
                shown = [f"{one['skillName'][5:]}@{one['skillVersion']}" for one in found]
                assert sorted(shown) == names, (filters, query)
        refused = await tools.call("get_skillset", versions="not a range")
        assert "not a range" in refused["error"] and refused["ok"] is False
        for wrong in ({"max_egress": "moon"}, {"secrets": "INK"}, {"limit": 0}, {"max_risk": 1}):
            assert await tools.refused("get_skillset", **wrong) == "bad_arguments"


async def test_broken_manifests_have_their_reasons(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        assert (await tools.call("get_skillset"))["exit_code"] == 4
        assert (await tools.call("get_skillset_from_catalog"))["exit_code"] == 4
        await tools.good("write_file", path="mine/a.json", content="{")
        found = await tools.good("get_skillset", manifests_dir="mine")
        assert found["available_skills"][0]["errors"][0].startswith("JSONDecodeError")


@pytest.mark.parametrize("path", ["/etc", "../outside", "workspace/../../outside", "file:///etc"])
async def test_paths_stay_in_the_folders_of_the_platform(
    redis_url: str, tmp_path: Path, path: str
) -> None:
    async with wire(redis_url, tmp_path) as tools:
        assert await tools.refused("get_skillset", manifests_dir=path) == "outside_root"
        assert await tools.refused("get_skillset", schema_path=path) == "outside_root"
        assert await tools.refused("get_skillset_from_catalog", catalog_path=path) == "outside_root"


async def test_a_catalog_that_an_agent_wrote_is_not_followed(
    redis_url: str, tmp_path: Path
) -> None:
    (tmp_path / "secret.json").write_text('{"manifestId": "secret"}')
    catalog = {"skills": [{"path": str(tmp_path / "secret.json")}]}
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("write_file", path="catalog.json", content=json.dumps(catalog))
        for given in (
            "catalog.json",
            "workspace/catalog.json",
            f"{tmp_path}/workspace/catalog.json",
        ):
            answer = await tools.call("get_skillset_from_catalog", catalog_path=given)
            assert answer["error"]
            assert "secret" not in json.dumps(answer.get("available_skills", ""))
