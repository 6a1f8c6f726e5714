"""Files and folders of other programs, kept in step."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcf.memory import Actor, FileReport, Memory
from dcf.memory.threads import files
from dcf.memory.threads.piece import Piece

LONG_AGO = 1_700_000_000


def issue(id: str, *comments: str) -> str:
    said = [{"id": number, "author": "ann", "text": text} for number, text in enumerate(comments)]
    known = {"id": id, "title": f"about {id}", "status": "open", "issue_type": "bug"}
    return json.dumps({**known, "comments": said}) + "\n"


def write(path: Path, text: str, at: int = LONG_AGO) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))


async def sync(memory: Memory, path: Path, by: Actor, **more: str) -> list[FileReport]:
    return [report async for report in memory.thread_files.sync(path, by=by, **more)]


async def texts(memory: Memory, thread: str) -> list[str]:
    return [turn.text for turn in await memory.threads.turns(thread) if turn.role == "ann"]


async def test_a_file_is_read_again_when_it_has_changed(
    memory: Memory, by: Actor, tmp_path: Path
) -> None:
    file = tmp_path / "issues.jsonl"
    write(file, issue("s-1", "first", "third"))
    (read,) = await sync(memory, file, by)
    assert (read.formats, read.threads, read.turns, read.new_turns) == (("beads_issue",), 1, 4, 4)
    (again,) = await sync(memory, file, by)
    assert (again.unchanged, again.turns, again.new_turns) == (True, 4, 0)
    write(file, issue("s-1", "first", "second", "third") + issue("s-2")[:20], LONG_AGO + 5)
    (grown,) = await sync(memory, file, by)
    assert [(one.code, one.line) for one in grown.problems] == [("transcript-cut", 2)]
    assert await texts(memory, "s-1") == ["first", "second", "third"]


async def test_a_file_that_was_written_a_moment_ago_is_read_again(
    memory: Memory, by: Actor, tmp_path: Path
) -> None:
    """Within the grain of the file system's clock it may change without another time."""
    file = tmp_path / "issues.jsonl"
    file.write_text(issue("s-1", "first"))
    await sync(memory, file, by)
    stamp = file.stat()
    file.write_text(issue("s-1", "FIRST"))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    await sync(memory, file, by)
    assert await texts(memory, "s-1") == ["FIRST"]


async def test_a_folder_is_read_without_links_and_other_files_are_no_error(
    memory: Memory, by: Actor, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.jsonl"
    write(outside, issue("o-1"))
    root = tmp_path / "root"
    write(root / "a" / "issues.jsonl", issue("s-1"))
    write(root / "b.txt", "a recipe\n")
    write(root / "c.jsonl", '{"broken\n' + issue("s-2"))
    (root / "link.jsonl").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.jsonl")
    reports = {Path(one.path).name: one for one in await sync(memory, root, by, project="shop")}
    assert sorted(reports) == ["b.txt", "c.jsonl", "issues.jsonl"]
    assert [one.severity for one in reports["b.txt"].problems] == ["warning"]
    assert [(one.severity, one.line) for one in reports["c.jsonl"].problems] == [("error", 1)]
    threads = await memory.threads.list()
    assert {(one.source_id, one.project) for one in threads} == {("s-1", "shop"), ("s-2", "shop")}


async def test_a_sync_that_died_goes_on_and_leaves_the_same(
    memory: Memory, by: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "issues.jsonl"
    write(file, "".join(issue(f"s-{number}", "a", "b") for number in range(5)))
    batch, lives = files._batch, 0

    def dying(pieces: Iterator[Piece], project: str | None) -> list[Piece]:
        nonlocal lives
        lives -= 1
        if lives < 0:
            raise KeyError("the process dies")
        return batch(pieces, project)

    monkeypatch.setattr(files, "_BATCH", 3)
    monkeypatch.setattr(files, "_batch", dying)
    for lives in (1, 2, 4):  # noqa: B007
        with pytest.raises(KeyError):
            await sync(memory, file, by)
    lives = 100
    (read,) = await sync(memory, file, by)
    assert (read.threads, read.turns, read.unchanged) == (5, 20, False)
    for number in range(5):
        turns = await memory.threads.turns(f"s-{number}", all=True)
        assert [(turn.number, turn.place, turn.standing) for turn in turns] == [
            (place, place, "current") for place in range(1, 5)
        ]


async def test_a_file_with_an_id_that_is_a_secret_is_told_and_others_are_read(
    memory: Memory, by: Actor, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    write(folder / "a.jsonl", issue("ghp_" + "aJynacIDLR1nOUNN8JN3Gw75Ca5T6Uj0ce1R"))
    write(folder / "b.jsonl", issue("s-1"))
    refused, read = await sync(memory, folder, by)
    (problem,) = refused.problems
    assert (problem.code, problem.file) == ("memory_name_secret", str(folder / "a.jsonl"))
    assert (read.threads, read.problems) == (1, ())


async def test_a_file_whose_name_is_not_in_utf8_is_told_and_others_are_read(
    memory: Memory, by: Actor, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    write(folder / os.fsdecode(b"a\xff.jsonl"), issue("s-1"))
    write(folder / "b.jsonl", issue("s-2"))
    read, refused = sorted(await sync(memory, folder, by), key=lambda one: len(one.problems))
    assert (refused.path, refused.threads) == (rf"{folder}/a\udcff.jsonl", 0)
    assert (read.path, read.threads) == (f"{folder}/b.jsonl", 1)
