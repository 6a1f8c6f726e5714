"""Who read and deleted what, and what is done every night."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import stat
import sys
import tracemalloc
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from memory_world import Ticking
from unit.retrieval.conftest import DAY_MS, room_for

from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.retrieval.tending import night_of
from dcf.cli.settings import Settings
from dcf.memory import Subject
from dcf.retrieval import (
    AuditLog,
    Caller,
    ContextQuestion,
    FileItems,
    Items,
    NewItem,
    Night,
    Retrieval,
    StoreProblem,
    UnknownItem,
    maintain,
)

SHOP = "/work/shop"
ADA = Caller("ada", "127.0.0.1")
# It ends where one file would take the place of another.
KILLED = """
import asyncio, os, sys
from pathlib import Path
from dcf.retrieval import AuditLog
os.replace = os.rename = lambda *_, **__: os._exit(9)
asyncio.run(AuditLog(Path(sys.argv[1]), lambda: 0).rename(lambda text: "Ann" in text))
"""


@pytest.fixture
async def audit(tmp_path: Path, clock: Ticking) -> AsyncIterator[AuditLog]:
    log = AuditLog(tmp_path / "audit", clock)
    yield log
    await log.close()


async def test_reads_and_deletions_are_noted_without_what_they_say(
    items: Items, audit: AuditLog, clock: Ticking, tmp_path: Path
) -> None:
    retrieval = Retrieval(items, None, clock, audit=audit)
    kept = await retrieval.log(SHOP, NewItem("the parser fails", ("error",)))
    await retrieval.context(ContextQuestion(SHOP, "why does the parser fail?"), ADA)
    await retrieval.context(ContextQuestion(SHOP, "cake"), ADA)
    await retrieval.forget(SHOP, kept.id, Caller("bob"))
    with pytest.raises(UnknownItem):
        await retrieval.forget(SHOP, kept.id, Caller("bob"))
    told = [(one.operation, one.by, one.client, one.ids) for one in await audit.entries()]
    assert sorted(told) == [
        ("delete", "bob", "", (kept.id,)),
        ("read", "ada", "127.0.0.1", ()),
        ("read", "ada", "127.0.0.1", (kept.citation,)),
    ]
    said = b"".join(file.read_bytes() for file in (tmp_path / "audit").iterdir())
    assert b"parser" not in said and b"cake" not in said


async def test_what_is_swept_is_counted(items: Items, audit: AuditLog, clock: Ticking) -> None:
    retrieval = Retrieval(items, None, clock, audit=audit)
    for tag in ("runlog", "decision"):
        await retrieval.log(SHOP, NewItem("the parser fails", (tag,)))
    clock.now += 2 * DAY_MS
    done = await maintain(retrieval, [SHOP], clock(), 90)
    assert (done.swept, done.pruned) == (1, 0)
    (one,) = await audit.entries()
    assert (one.operation, one.count, one.project) == ("sweep", 1, SHOP)
    assert len(await items.recall(SHOP, "parser")) == 1
    assert (await maintain(retrieval, [SHOP], clock(), 90)).swept == 0
    assert len(await audit.entries()) == 1


async def test_reads_are_left_out_where_that_is_set(tmp_path: Path, clock: Ticking) -> None:
    audit = AuditLog(tmp_path / "audit", clock, reads=False)
    audit.note_read(ADA, SHOP, ["dcf://memory/a"])
    await audit.keep("delete", ADA, SHOP, ["a"], 1)
    assert [one.operation for one in await audit.entries()] == ["delete"]
    await audit.close()


async def test_a_deletion_is_there_when_its_call_returns(audit: AuditLog, tmp_path: Path) -> None:
    audit.note_read(ADA, SHOP, ["dcf://memory/a"])
    await asyncio.gather(*(audit.keep("delete", ADA, SHOP, [str(n)], 1) for n in range(50)))
    lines = "".join(one.read_text() for one in (tmp_path / "audit").glob("*.jsonl")).splitlines()
    kept = [json.loads(line) for line in lines]
    assert {one["ids"][0] for one in kept if one["operation"] == "delete"} >= {"0", "49"}
    assert len([one for one in kept if one["operation"] == "delete"]) == 50


async def test_nothing_is_glued_to_a_torn_line(audit: AuditLog, tmp_path: Path) -> None:
    await audit.keep("delete", ADA, SHOP, ["x1"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    file.write_bytes(file.read_bytes() + b'{"at": 1')
    for name in ("x2", "x3"):
        await audit.keep("delete", ADA, SHOP, [name], 1)
    assert [one.ids for one in await audit.entries()] == [("x3",), ("x2",), ("x1",)]


async def test_half_of_a_line_is_not_there_where_the_disk_is_full(
    audit: AuditLog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await audit.keep("delete", ADA, SHOP, ["x1"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    with room_for(file.stat().st_size + 10):
        await audit.keep("delete", ADA, SHOP, ["x2"], 1)
    assert "1 entries are missing in the audit log" in caplog.text
    await audit.keep("delete", ADA, SHOP, ["x3"], 1)
    assert [one.ids for one in await audit.entries()] == [("x3",), ("x1",)]
    assert file.read_bytes().count(b"\n") == 2


async def test_the_name_of_a_new_day_is_on_the_disk(
    audit: AuditLog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    synced: list[Path] = []
    fsync = os.fsync

    def spy(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    await audit.keep("delete", ADA, SHOP, ["x1"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    assert synced == [tmp_path, file, tmp_path / "audit"]


async def test_old_days_go_and_torn_lines_are_left_out(
    audit: AuditLog, tmp_path: Path, clock: Ticking
) -> None:
    for _ in range(3):
        await audit.keep("delete", ADA, SHOP, ["a"], 1)
        clock.now += DAY_MS
    for file in (tmp_path / "audit").glob("*.jsonl"):
        file.write_bytes(file.read_bytes() + b'{"at": 1')
    assert len(await audit.entries()) == 3
    assert await audit.prune(clock.now - 2 * DAY_MS) == 1
    assert len(await audit.entries()) == 2
    assert len(await audit.entries(lambda one: one.by == "bob")) == 0


async def test_the_first_entry_of_a_day_ends_old_ones(tmp_path: Path, clock: Ticking) -> None:
    """Where nobody serves: a coding agent over MCP reads every day."""
    audit = AuditLog.at_home(tmp_path, clock, {"DCF_AUDIT_DAYS": "2"})
    days = []
    for _ in range(4):
        await audit.keep("delete", ADA, SHOP, ["a"], 1)
        await audit.keep("delete", ADA, SHOP, ["b"], 1)
        days.append(datetime.fromtimestamp(clock.now / 1000, UTC).date().isoformat())
        clock.now += DAY_MS
    assert sorted(one.stem for one in (tmp_path / "audit").glob("*.jsonl")) == days[1:]
    assert len(await audit.entries()) == 6


async def test_of_a_long_day_no_more_is_held_than_is_asked_for(
    audit: AuditLog, tmp_path: Path, clock: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "Ann Miller", "ü" * 2_000, "last"):
        await audit.keep("delete", Caller(name), SHOP, ["a"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    first, second, third, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first * 50_000 + second + b"torn\n" + third * 3_000 + b"\n{}\n" + last)
    size = file.stat().st_size
    tracemalloc.start()
    newest = await audit.entries(limit=2_000)
    (found,) = await audit.entries(lambda one: one.by.startswith("Ann"), limit=1)
    renamed = await audit.rename(Subject.of("Ann Miller").is_named_in)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.by for one in newest[:2]] == ["last", "ü" * 2_000] and len(newest) == 2_000
    assert found.by == "Ann Miller" and renamed == 1
    assert peak < size / 2
    # One line that cannot be read was seen by the first, two by the second.
    counts = [f"{count} lines that cannot be read" for count in (1, 2)]
    assert all(one in told for one, told in zip(counts, caplog.messages, strict=True))
    assert (await audit.entries(lambda one: one.by == "a", limit=50_001))[-1].by == "a"


async def test_what_is_forgotten_has_another_name(audit: AuditLog, tmp_path: Path) -> None:
    await audit.keep("delete", Caller("Ann Miller"), "/work/ann miller", ["a"], 1)
    await audit.keep("delete", ADA, SHOP, ["b"], 1)
    assert await audit.rename(Subject.of("Ann Miller").is_named_in) == 1
    told = [(one.by, one.project) for one in await audit.entries()]
    assert told == [("ada", SHOP), ("[forgotten]", "[forgotten]")]
    assert not any(b"iller" in one.read_bytes() for one in (tmp_path / "audit").iterdir())


async def test_what_is_forgotten_has_another_name_in_lines_of_any_form(
    audit: AuditLog, tmp_path: Path
) -> None:
    await audit.keep("delete", Caller("Ann Miller"), SHOP, ["a"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    newer = [{"by": "Ann Miller"}, ["Ann Miller", 1], "Ann Miller", {"by": {"name": "Ann Miller"}}]
    with file.open("a") as stream:
        stream.writelines(f"{json.dumps(one)}\n" for one in newer)
    assert await audit.rename(Subject.of("Ann Miller").is_named_in) == 5
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    gone = "[forgotten]"
    assert kept[0]["by"] == gone
    assert kept[1:] == [{"by": gone}, [gone, 1], gone, {"by": {"name": gone}}]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_what_a_kill_over_it_left_goes_with_the_day(
    audit: AuditLog, tmp_path: Path, clock: Ticking
) -> None:
    await audit.keep("delete", ADA, SHOP, ["a"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    line = file.read_text().replace("ada", "Ann Miller")
    file.write_text(line)
    # Ended before the new file took the place of the old one.
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, str(tmp_path / "audit"))
    )
    assert await killed.wait() == 9 and file.read_text() == line
    assert await audit.prune(clock.now + DAY_MS) == 1
    assert [one.name for one in (tmp_path / "audit").iterdir()] == ["lock"]


async def test_days_do_not_go_while_another_process_rewrites_them(
    audit: AuditLog, tmp_path: Path, clock: Ticking
) -> None:
    await audit.keep("delete", ADA, SHOP, ["a"], 1)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    with (tmp_path / "audit" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        pruning = asyncio.create_task(audit.prune(clock.now + DAY_MS))
        await asyncio.sleep(0.03)
        assert file.exists()
    assert await pruning == 1 and not file.exists()


async def test_a_log_that_cannot_be_written_makes_nothing_fail(
    tmp_path: Path, clock: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "audit").write_text("no folder")
    audit = AuditLog(tmp_path / "audit", clock)
    await audit.keep("delete", ADA, SHOP, ["a"], 1)
    await audit.close()
    assert "1 entries are missing in the audit log" in caplog.text


async def test_items_are_compacted(tmp_path: Path, clock: Ticking) -> None:
    items = FileItems(tmp_path / "items", clock, lambda kind: f"{kind}-{clock()}")
    for text in ("one", "two", "three", "four"):
        last = await items.remember(SHOP, NewItem(text))
    await items.forget(SHOP, last.id)
    await items.compact()
    (file,) = (tmp_path / "items").rglob("*.jsonl")
    # Three items, and the mark by which nobody brings the fourth back.
    assert len(file.read_text().splitlines()) == 4 and "four" not in file.read_text()


async def test_one_of_several_processes_does_the_nightly_work_once(tmp_path: Path) -> None:
    now = datetime(2026, 11, 29, 2, 59, tzinfo=UTC)
    done: list[str] = []

    def night(name: str) -> tuple[Night, str]:
        return Night(tmp_path / "night", 3, lambda: now), name

    async def look(one: tuple[Night, str]) -> bool:
        async def work() -> None:
            done.append(one[1])
            await asyncio.sleep(0)

        return await one[0].do_if_due(work)

    nights = [night("a"), night("b")]
    assert await asyncio.gather(*map(look, nights)) == [False, False]
    now += timedelta(minutes=2)
    assert sorted(await asyncio.gather(*map(look, nights))) == [False, True]
    now += timedelta(hours=5)
    assert await asyncio.gather(*map(look, nights)) == [False, False]
    now += timedelta(days=1)
    assert sorted(await asyncio.gather(*map(look, nights))) == [False, True]
    assert len(done) == 2


async def test_services_of_a_home_do_the_nightly_work_of_each_place_and_project(
    tmp_path: Path,
) -> None:
    for name in ("shop", "bank"):
        (tmp_path / name).mkdir()
    home = {"DCF_HOME": str(tmp_path / "home")}
    files = home | {"MEM_BACKEND": "file"}
    url = "postgresql://ada:sesame@h/"
    services = [
        (home, "shop", True),
        (home, "shop", False),
        (home | {"PORT": "1"}, "shop", False),
        (home, "bank", True),
        (home | {"MEM_PATH": str(tmp_path / "m.db")}, "shop", True),
        (files, "shop", True),
        (files | {"MEM_PATH": str(tmp_path / "home" / "items")}, "shop", False),
        (files | {"MEM_PATH": str(tmp_path / "others")}, "shop", True),
        (home | {"MEM_BACKEND": "postgres", "DATABASE_URL": f"{url}one"}, "shop", True),
        (home | {"MEM_BACKEND": "postgres", "DATABASE_URL": f"{url}two"}, "shop", True),
        (home | {"MEM_BACKEND": "memory"}, "shop", True),
    ]
    done = []
    for env, root, _ in services:
        setting = RetrievalSetting.from_env(env, [tmp_path / root])
        night = night_of(Settings.from_env(env), setting, 0)
        done.append(await night.do_if_due(partial(asyncio.sleep, 0)))
    assert done == [is_done for _, _, is_done in services]


@pytest.mark.parametrize(
    "error",
    [StoreProblem(where="here", reason="it is away"), OSError(28, "No space left: it is away")],
)
async def test_a_night_that_fails_is_tried_again_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    now = datetime(2026, 11, 29, 12, tzinfo=UTC)

    async def fail() -> None:
        raise error

    night = Night(tmp_path / "night", 3, lambda: now)
    assert await night.do_if_due(fail)
    assert "it is away" in caplog.text
    assert not await night.do_if_due(fail)
    now += timedelta(days=1)
    assert await night.do_if_due(fail)


async def test_a_night_whose_file_cannot_be_written_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = datetime(2026, 11, 29, 12, tzinfo=UTC)
    done: list[datetime] = []

    async def work() -> None:
        done.append(now)

    (tmp_path / "home").write_text("no folder")
    night = Night(tmp_path / "home" / "night", 3, lambda: now)
    for _ in range(2):
        await night.do_if_due(work)
    assert caplog.text.count(str(tmp_path / "home")) == 1 and not done
    (tmp_path / "home").unlink()
    now += timedelta(days=1)
    assert await night.do_if_due(work) and done == [now]
