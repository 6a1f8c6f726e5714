"""A worker follows the folder of generated skills: what is generated holds from the next Task."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from dcf.skills import SkillOrder, UnknownSkill, generate_all, new_skill
from dcf.tools import NO_STUB
from dcf.worker import FollowedSkills, current_toolbox


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    src, out = tmp_path / "skills_src", tmp_path / "generated"
    assert new_skill(src, out, SkillOrder("tea.brew", ("kettle:boil",))).problems == []
    return src, out


def bump(src: Path, version: str) -> None:
    (file,) = (src / "skills").rglob("*.yaml")
    text = file.read_text()
    assert "1.0.0" in text
    file.write_text(text.replace("1.0.0", version))


async def load(skills: FollowedSkills, ref: str) -> str:
    async with skills.in_use() as now:
        return now.gates.load([ref], {})[0].version


async def test_a_version_generated_after_the_start_is_loaded(folders: tuple[Path, Path]) -> None:
    src, out = folders
    assert generate_all(src, out).ok
    skills = FollowedSkills(out, {})
    try:
        assert await skills.open()
        with pytest.raises(UnknownSkill):
            await load(skills, "tea.brew@7.0.0")
        bump(src, "7.0.0")
        assert generate_all(src, out).ok
        assert await load(skills, "tea.brew@7.0.0") == "7.0.0"
    finally:
        await skills.close()


async def test_a_folder_that_is_made_after_the_start_is_followed_too(
    folders: tuple[Path, Path],
) -> None:
    src, out = folders
    skills = FollowedSkills(out, {})
    try:
        assert not await skills.open()
        assert generate_all(src, out).ok
        assert await load(skills, "tea.brew")
    finally:
        await skills.close()


@pytest.mark.parametrize("spoilt", ["broken", "gone"])
async def test_what_cannot_be_read_leaves_the_former_in_use_with_a_warning(
    spoilt: str, folders: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    src, out = folders
    assert generate_all(src, out).ok
    skills = FollowedSkills(out, {})
    try:
        await skills.open()
        async with skills.in_use() as before:
            pass
        if spoilt == "broken":
            (out / "skills.lock").write_text("{")
        else:
            out.rename(out.with_name("elsewhere"))
        with caplog.at_level(logging.WARNING, logger="dcf"):
            async with skills.in_use() as now:
                assert now is before
        assert "skills.lock changed and cannot be used" in caplog.text
        assert generate_all(src, out).ok
        assert await load(skills, "tea.brew")
    finally:
        await skills.close()


async def test_a_task_under_way_keeps_its_connections_until_it_ends(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    src, out = folders
    monkeypatch.setattr(current_toolbox, "_CLOSE_OLD_S", 0.0)
    assert generate_all(src, out).ok
    skills = FollowedSkills(out, {})
    try:
        await skills.open()
        async with skills.in_use() as old:
            registry = src / "registry.yaml"
            registry.write_text(registry.read_text().replace("8765", "9"))
            assert generate_all(src, out).ok
            async with skills.in_use() as new:
                assert new.toolbox is not old.toolbox
            await asyncio.sleep(0.05)
            assert not old.toolbox.closed
        await asyncio.sleep(0.05)
        assert old.toolbox.closed
    finally:
        await skills.close()


async def test_the_same_servers_keep_the_connections(folders: tuple[Path, Path]) -> None:
    src, out = folders
    assert generate_all(src, out).ok
    skills = FollowedSkills(out, {})
    try:
        await skills.open()
        async with skills.in_use() as old:
            pass
        bump(src, "7.0.0")
        assert generate_all(src, out).ok
        async with skills.in_use() as new:
            assert new is not old and new.toolbox is old.toolbox
    finally:
        await skills.close()


async def test_the_stub_is_looked_for_anew_with_each_task(folders: tuple[Path, Path]) -> None:
    src, out = folders
    at = NO_STUB
    skills = FollowedSkills(out, {"DCF_STUB_URL": "http://127.0.0.1:1"}, lambda: at)
    try:
        assert not await skills.open()
        assert generate_all(src, out).ok
        async with skills.in_use() as none_yet:
            assert none_yet.toolbox.registry.server("kettle").absent
            at = "http://127.0.0.1:9"
            async with skills.in_use() as now:
                kettle = now.toolbox.registry.server("kettle")
                assert (kettle.url, kettle.absent) == ("http://127.0.0.1:9/mcp/kettle", "")
            async with skills.in_use() as again:
                assert again is now
        at = "http://127.0.0.1:10"
        async with skills.in_use() as moved:
            assert moved.toolbox.registry.server("kettle").url.startswith(at)
    finally:
        await skills.close()
