"""Files of logged items: their lines, and what is damaged, torn or dead in them."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from memory_world import Numbered, Ticking
from unit.retrieval.conftest import DAY_MS, LIFETIMES, room_for

from dcf.memory import random_id
from dcf.retrieval import FileItems, FolderUnusable, NewItem, item_folder
from dcf.retrieval.item_folder import record_in

SHOP = "/work/shop"
# 2023-11-14, 22:13:20 UTC, is when the clock of tests begins.
FIRST, SECOND = "items-2023-11-14.jsonl", "items-2023-11-15.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "items"


@pytest.fixture
def items(folder: Path, clock: Ticking) -> FileItems:
    return FileItems(folder, clock, Numbered(), LIFETIMES)


def day(folder: Path, name: str) -> Path:
    (project,) = folder.iterdir()
    return project / name


def again(folder: Path, clock: Ticking) -> FileItems:
    """As another process has it open."""
    return FileItems(folder, clock, random_id, LIFETIMES)


async def texts(items: FileItems, query: str = "") -> list[str]:
    return [one.item.text for one in await items.recall(SHOP, query, limit=1_000)]


async def test_each_day_has_a_file_of_json_lines_for_its_owner_alone(
    items: FileItems, folder: Path, clock: Ticking
) -> None:
    kept = await items.remember(SHOP, NewItem("Größe\nof it", ("b", "a"), "pytest", "src/a.ts"))
    clock.now += DAY_MS
    await items.remember(SHOP, NewItem("the next day"))
    await items.forget(SHOP, kept.id)
    first = [json.loads(line) for line in day(folder, FIRST).read_text().splitlines()]
    assert first == [
        {
            "id": "passage-1",
            "text": "Größe\nof it",
            "tags": ["a", "b"],
            "source": "pytest",
            "filePath": "src/a.ts",
            "timestamp": kept.timestamp,
        },
        {"gone": "passage-1", "timestamp": clock.now},
    ]
    assert len(day(folder, SECOND).read_text().splitlines()) == 1
    modes = {stat.S_IMODE(one.stat().st_mode) for one in folder.rglob("*") if one.is_file()}
    assert modes == {0o600}
    assert {stat.S_IMODE(one.stat().st_mode) for one in (folder, *folder.iterdir())} == {0o700}


async def test_a_torn_line_is_told_once_and_nothing_is_glued_to_it(
    items: FileItems, folder: Path, clock: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(2):
        await items.remember(SHOP, NewItem(f"item {number}"))
    file = day(folder, FIRST)
    os.truncate(file, file.stat().st_size - 20)
    late = again(folder, clock)
    assert await texts(late) == await texts(late) == ["item 0"]
    await late.remember(SHOP, NewItem("item 2"))
    assert await texts(late) == ["item 2", "item 0"]
    assert [one.getMessage() for one in caplog.records] == [caplog.messages[0]]
    assert f"{file}:2 was torn" in caplog.messages[0]
    assert await texts(again(folder, clock)) == ["item 2", "item 0"]
    assert f"{file}:2 is damaged" in caplog.messages[1]


async def test_a_line_that_lost_its_end_alone_is_read(
    items: FileItems, folder: Path, clock: Ticking
) -> None:
    await items.remember(SHOP, NewItem("item 0"))
    file = day(folder, FIRST)
    os.truncate(file, file.stat().st_size - 1)
    assert await texts(items) == ["item 0"]
    await items.remember(SHOP, NewItem("item 1"))
    assert await texts(items) == await texts(again(folder, clock)) == ["item 1", "item 0"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no JSON", "Expecting value"),
        (b"\xff\xfe", "codec can't decode"),
        (b"[]", "it is no JSON object"),
        (b"[" * 100_000, "too deep"),
        (b'{"id": 1, "timestamp": 1}', "its tags is no list"),
        (b'{"gone": "passage-1"}', "its timestamp is no int"),
    ],
)
async def test_a_damaged_line_is_told_with_its_place_and_the_others_are_read(
    line: bytes,
    said: str,
    items: FileItems,
    folder: Path,
    clock: Ticking,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for number in range(3):
        await items.remember(SHOP, NewItem(f"item {number}"))
    file = day(folder, FIRST)
    first, _second, third = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join((first, line, third, b"")))
    assert await texts(again(folder, clock)) == ["item 2", "item 0"]
    (told,) = caplog.messages
    assert f"{file}:2 is damaged" in told and said in told


async def test_compaction_moves_damaged_lines_out_of_the_way_and_says_so(
    items: FileItems, folder: Path, clock: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        await items.remember(SHOP, NewItem(f"item {number}"))
    file = day(folder, FIRST)
    first, _second, third = file.read_bytes().splitlines()
    file.write_bytes(b"\n".join((first, b"Ann Miller \xff", b"", third[:-9])))
    late = again(folder, clock)
    assert await late.named(lambda line: "item 0" in line)
    assert await texts(late) == ["item 0"]
    # Once each, however often this process reads them anew, with what can be done.
    assert len(caplog.messages) == 2
    assert all("`dcf retrieval maintain` moves it" in one for one in caplog.messages)

    caplog.clear()
    await late.compact()
    aside = file.parent / "damaged.txt"
    assert caplog.messages == [f"2 damaged lines were moved to {aside}"]
    assert aside.read_bytes() == b"Ann Miller \xff\n" + third[:-9] + b"\n"
    assert file.read_bytes() == first + b"\n"
    caplog.clear()
    other = again(folder, clock)
    await other.compact()
    assert await texts(other) == await texts(late) == await texts(items) == ["item 0"]
    assert caplog.messages == []

    await other.purge(lambda line: "Ann Miller" in line)
    assert aside.read_bytes() == third[:-9] + b"\n"


@pytest.mark.parametrize(
    "odd",
    [
        {"id": "passage-s", "text": "\ud800 timeout"},
        {"id": "", "text": "timeout"},
        {"id": "a\n/b", "text": "timeout"},
        {"id": "passage-t", "text": "timeout", "timestamp": 10**30},
    ],
)
async def test_a_line_that_no_item_can_have_is_left_out_and_told(
    items: FileItems, folder: Path, odd: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    kept = await items.remember(SHOP, NewItem("the timeout comes at noon"))
    file = day(folder, FIRST)
    with file.open("a") as stream:
        stream.write(json.dumps({"tags": [], "timestamp": kept.timestamp, **odd}) + "\n")
    (file.parent / "lock").write_text("letters")
    for _ in range(2):
        assert [one.item.id for one in await items.recall(SHOP, "timeout")] == [kept.id]
    assert "is left out" in caplog.text
    later = await items.remember(SHOP, NewItem("another timeout"))
    assert len(await items.recall(SHOP, "timeout")) == 2 and later.citation


async def test_sweep_rewrites_what_is_mostly_dead_and_loses_nothing(
    items: FileItems, folder: Path, clock: Ticking
) -> None:
    other = again(folder, clock)
    for number in range(4):
        await items.remember(SHOP, NewItem(f"run {number}", ("runlog",)))
    await items.remember(SHOP, NewItem("decision"))
    assert len(await texts(other)) == 5
    file = day(folder, FIRST)
    with file.open("ab") as stream:
        stream.write(b"damaged\n")
    clock.now += 2 * DAY_MS

    async def log() -> None:
        for number in range(20):
            await other.remember(SHOP, NewItem(f"late {number}"))

    swept, _ = await asyncio.gather(items.sweep(SHOP), log())
    assert swept == 4
    lines = file.read_bytes().splitlines()
    assert [json.loads(line)["text"] for line in lines[:-1]] == ["decision"]
    assert lines[-1] == b"damaged"
    wanted = {"decision", *(f"late {number}" for number in range(20))}
    for each in (items, other, again(folder, clock)):
        assert set(await texts(each)) == wanted
        assert await texts(each, "run") == []
    assert not list(folder.rglob("*.draft"))


async def test_a_file_without_an_item_goes(items: FileItems, folder: Path, clock: Ticking) -> None:
    other = again(folder, clock)
    await items.remember(SHOP, NewItem("item", ("runlog",)))
    assert await texts(other) == ["item"]
    clock.now += 2 * DAY_MS
    assert await items.sweep(SHOP) == 1
    assert not day(folder, FIRST).exists()
    assert await texts(other) == await texts(items) == []
    clock.now -= 2 * DAY_MS
    await other.remember(SHOP, NewItem("item again"))
    assert await texts(items) == ["item again"]


async def test_that_an_item_was_forgotten_stays_known_without_its_text(
    items: FileItems, folder: Path, clock: Ticking
) -> None:
    kept = await items.remember(SHOP, NewItem("item", ("runlog",)))
    await items.forget(SHOP, kept.id)
    at = clock.now
    await items.sweep(SHOP)
    line = f'{{"gone": "{kept.id}", "timestamp": {at}}}\n'
    assert day(folder, FIRST).read_text() == line
    assert await again(folder, clock).keep(SHOP, [kept]) == ["forgotten"]
    # It is not rewritten for ever.
    before = day(folder, FIRST).stat().st_ino
    await items.sweep(SHOP)
    assert day(folder, FIRST).stat().st_ino == before


async def test_a_folder_says_whose_it_is_also_one_that_was_made_before(
    items: FileItems, folder: Path
) -> None:
    await items.remember(SHOP, NewItem("item"))
    name = day(folder, "project")
    assert name.read_text() == f"{SHOP}\n"
    archive = name.parent.name
    for wrong in ("/work/site\n", "\udcff"):
        name.write_bytes(wrong.encode(errors="surrogateescape"))
        assert await items.archives() == {archive: None}
    name.unlink()
    assert await items.archives() == {archive: None}
    await items.remember(SHOP, NewItem("another"))
    assert await items.archives() == {archive: SHOP}


async def test_a_night_reads_no_items_again_that_are_held(
    items: FileItems, folder: Path, clock: Ticking, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        kept = await items.remember(SHOP, NewItem(f"item {number}"))
    assert len(await texts(items)) == 8
    await items.forget(SHOP, kept.id)
    read: list[bytes] = []
    monkeypatch.setattr(item_folder, "record_in", lambda line: read.append(line) or record_in(line))
    await items.compact()
    # The line that says that one is gone, and the file once while it is written anew.
    assert len(read) == 1 + 9
    read.clear()
    await items.compact()
    assert len(read) == 8 and len(await texts(items)) == 7
    assert len(await texts(again(folder, clock))) == 7


async def test_nothing_but_the_folders_of_projects_is_read_or_changed(
    items: FileItems, folder: Path
) -> None:
    """MEM_PATH may name a folder that somebody has for more than this."""
    kept = await items.remember(SHOP, NewItem("the invoice of Lee"))
    line = day(folder, FIRST).read_bytes()
    theirs = {
        folder / "notes" / FIRST: line * 2,
        folder / "notes" / "project": b"Lee\n",
        folder / "notes" / ".next.draft": b"Lee",
        day(folder, ".mine.draft"): b"Lee",
    }
    (folder / "notes").mkdir()
    for file, content in theirs.items():
        file.write_bytes(content)
    await items.compact()
    assert await items.named(lambda text: "Lee" in text) == (kept,)
    await items.purge(lambda text: "Lee" in text)
    assert {file: file.read_bytes() for file in theirs} == theirs
    assert await texts(items) == []


async def test_a_full_disk_is_told_and_leaves_no_half_of_a_line(
    items: FileItems, folder: Path
) -> None:
    await items.remember(SHOP, NewItem("item"))
    file = day(folder, FIRST)
    before = file.read_bytes()
    with room_for(len(before) + 50), pytest.raises(FolderUnusable, match="too large"):
        await items.remember(SHOP, NewItem("x" * 1_000))
    assert file.read_bytes() == before
    await items.remember(SHOP, NewItem("another"))
    assert await texts(items) == ["another", "item"]


async def test_a_folder_that_is_none_is_told(folder: Path, items: FileItems) -> None:
    folder.write_text("a file")
    with pytest.raises(FolderUnusable, match=str(folder)):
        await items.remember(SHOP, NewItem("item"))
