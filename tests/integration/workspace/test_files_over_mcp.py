"""The file tools, each over the wire."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from integration.workspace.wire import wire

TRICKS = [
    "../secret.txt", "..", "/etc/passwd", "a/../../secret.txt", "link/secret.txt", "up/secret.txt",
    "/proc/self/environ", "workspace/../../secret.txt", "./././../secret.txt", "//etc/passwd",
]  # fmt: skip


async def test_the_life_of_a_file(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        written = await tools.good("write_file", path="plan/a.md", content="# Plän\n")
        assert (written["bytes_written"], written["mode"]) == (8, "overwrite")
        added = await tools.good("write_file", path="plan/a.md", content="more", append=True)
        assert added["mode"] == "append"
        read = await tools.good("read_file", path="plan/a.md")
        assert (read["content"], read["bytes_read"]) == ("# Plän\nmore", 12)
        part = await tools.good("read_file", path="plan/a.md", offset=8, length=2)
        assert (part["content"], part["truncated"], part["size"]) == ("mo", True, 12)
        assert (await tools.good("create_directory", path="old"))["created"] is True
        moved = await tools.good("move_path", source="plan/a.md", destination="old/b.md")
        assert (moved["source"], moved["destination"]) == ("plan/a.md", "old/b.md")
        listed = await tools.good("list_directory", recursive=True)
        assert [(one["path"], one["type"], one["size"]) for one in listed["entries"]] == [
            ("old", "directory", None), ("old/b.md", "file", 12), ("plan", "directory", None),
        ]  # fmt: skip
        assert (await tools.good("delete_path", path="old", recursive=True))["removed"] is True
        assert (tmp_path / "workspace" / "plan").is_dir()
        assert not (tmp_path / "workspace" / "old").exists()


async def test_errors_are_the_codes_of_the_earlier_system(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("write_file", path="f", content="x")
        assert await tools.refused("list_directory", path="no") == "path_not_found"
        assert await tools.refused("list_directory", path="f") == "not_a_directory"
        assert await tools.refused("read_file", path="no") == "path_not_found"
        assert await tools.refused("read_file", path=".") == "not_a_file"
        assert await tools.refused("read_file", path="f", encoding="rot13") == "unknown_encoding"
        assert (
            await tools.refused("write_file", path="no/f", content="x", create_parents=False)
            == "parent_missing"
        )
        assert await tools.refused("create_directory", path="f") == "already_exists"
        assert await tools.refused("delete_path", path="no") == "path_not_found"
        assert await tools.refused("move_path", source="no", destination="n") == "source_not_found"
        await tools.good("write_file", path="g", content="y")
        assert await tools.refused("move_path", source="f", destination="g") == "destination_exists"


@pytest.mark.parametrize("path", TRICKS)
async def test_no_path_leads_out_of_the_workspace(
    redis_url: str, tmp_path: Path, path: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for agents")
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("write_file", path="mine", content="x")
        (tmp_path / "workspace" / "link").symlink_to(tmp_path)
        (tmp_path / "workspace" / "up").symlink_to("..")
        for name, arguments in {
            "list_directory": {"path": path},
            "read_file": {"path": path},
            "write_file": {"path": path, "content": "x"},
            "create_directory": {"path": path},
            "delete_path": {"path": path, "recursive": True},
            "move_path": {"source": "mine", "destination": path, "overwrite": True},
        }.items():
            answer = await tools.call(name, **arguments)
            assert str(answer["error"]).startswith("outside_root: "), (name, answer)
        answer = await tools.call("move_path", source=path, destination="taken")
        assert str(answer["error"]).startswith("outside_root: ")
    assert secret.read_text() == "not for agents"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["secret.txt", "workspace"]


async def test_what_is_no_text_comes_as_an_answer(redis_url: str, tmp_path: Path) -> None:
    async with wire(redis_url, tmp_path) as tools:
        await tools.good("list_directory")
        (tmp_path / "workspace" / os.fsdecode(b"\xff")).write_bytes(b"\xff\x00")
        (tmp_path / "workspace" / "bytes").write_bytes(b"\xff\xfe\x00")
        assert len((await tools.good("list_directory"))["entries"]) == 2
        assert await tools.refused("read_file", path="bytes") == "decode_failed"
        assert await tools.refused("read_file", path="a\x00b") == "invalid_path"
