"""Backups while the memory is used, and the way back."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking, started

from dcf.memory import (
    Actor,
    BackupExists,
    Memory,
    MemoryCorrupt,
    MemoryForeign,
    MemoryInUse,
    MemoryProblem,
    MemoryTooNew,
    MemoryUnusable,
    NewAgent,
    NewBlock,
    Source,
    restore,
    users_of,
)

BY = Actor("user", "ada")


def opened(path: Path) -> Memory:
    return Memory.open(Source(path), clock=Ticking(), new_id=Numbered())


async def _with_agent(path: Path, name: str = "anna") -> None:
    async with opened(path) as memory:
        await memory.agents.create(NewAgent(name), by=BY)


async def test_a_backup_while_writers_write_is_of_one_moment(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        for label in ("a", "b"):
            await memory.blocks.create(agent.id, NewBlock(label, "x" * 100_000), by=BY)
        done = asyncio.Event()

        async def write() -> int:
            count = 0
            while not done.is_set():
                count += 1
                # Always both in one transaction, so that no moment has them unlike.
                await memory.ledger.change(
                    BY,
                    lambda journal, text=f"{count}": [
                        journal.connection.execute(
                            "UPDATE blocks SET description = ? WHERE label = ?", (text, label)
                        )
                        for label in ("a", "b")
                    ],
                )
            return count

        writing = asyncio.create_task(write())
        for number in range(5):
            await memory.back_up(tmp_path / f"backup-{number}.db")
        done.set()
        assert await writing > 5
    for number in range(5):
        async with opened(tmp_path / f"backup-{number}.db") as backup:
            assert await backup.check() == ()
            seen = {one.label: one.description for one in await backup.blocks.list(agent.id)}
            assert seen["a"] == seen["b"]


async def test_a_backup_is_one_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "backups").mkdir()
    async with opened(tmp_path / "m.db") as memory:
        await memory.agents.create(NewAgent("anna"), by=BY)
        await memory.back_up(tmp_path / "backups" / "b.db")
    assert [file.name for file in (tmp_path / "backups").iterdir()] == ["b.db"]
    assert (tmp_path / "backups" / "b.db").stat().st_mode & 0o077 == 0


async def test_a_backup_overwrites_nothing_unless_told(tmp_path: Path) -> None:
    there = tmp_path / "b.db"
    there.write_text("mine")
    async with opened(tmp_path / "m.db") as memory:
        with pytest.raises(BackupExists):
            await memory.back_up(there)
        assert there.read_text() == "mine"
        with pytest.raises(MemoryProblem):
            await memory.back_up(tmp_path / "m.db", overwrite=True)
        with pytest.raises(BackupExists):
            await memory.back_up(tmp_path, overwrite=True)
        await memory.back_up(there, overwrite=True)
    async with opened(there) as backup:
        assert await backup.check() == ()


async def test_a_backup_to_where_nobody_can_write_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    async with opened(tmp_path / "m.db") as memory:
        with pytest.raises(MemoryUnusable):
            await memory.back_up(tmp_path / "file" / "b.db")


async def test_a_restored_memory_is_that_of_the_backup_and_the_other_is_kept(
    tmp_path: Path,
) -> None:
    path, backup = tmp_path / "m.db", tmp_path / "b.db"
    await _with_agent(path)
    async with opened(path) as memory:
        await memory.back_up(backup)
        await memory.agents.create(NewAgent("later"), by=BY, agent_id="agent-later", blocks=[])
    digest = backup.read_bytes()
    kept = restore(backup, Source(path), aside="replaced")
    assert kept == tmp_path / "m.db.replaced"
    async with opened(path) as memory:
        assert [agent.name for agent in await memory.agents.list()] == ["anna"]
        assert await memory.check() == ()
    async with opened(kept) as memory:
        assert [agent.name for agent in await memory.agents.list()] == ["anna", "later"]
    assert backup.read_bytes() == digest
    with pytest.raises(BackupExists, match="replaced"):
        restore(backup, Source(path), aside="replaced")


async def test_a_memory_is_restored_where_there_is_none(tmp_path: Path) -> None:
    await _with_agent(tmp_path / "b.db")
    assert restore(tmp_path / "b.db", Source(tmp_path / "new" / "m.db"), aside="old") is None
    async with opened(tmp_path / "new" / "m.db") as memory:
        assert (await memory.agents.find("anna")).name == "anna"


async def test_what_is_no_whole_backup_is_refused_and_the_memory_stays(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await _with_agent(path)
    async with opened(path) as memory:
        await memory.back_up(tmp_path / "good.db")
    good = (tmp_path / "good.db").read_bytes()
    # The middle of the file is lost.
    (tmp_path / "holed.db").write_bytes(good[:8192] + bytes(8192) + good[16384:])
    (tmp_path / "short.db").write_bytes(good[: len(good) // 2])
    (tmp_path / "text.db").write_text("no database\n" * 1000)
    (tmp_path / "empty.db").write_bytes(b"")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE t (x)")
    (tmp_path / "new.db").write_bytes(good)
    with closing(sqlite3.connect(tmp_path / "new.db")) as newer:
        newer.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    for name, problem in (
        ("holed", MemoryCorrupt),
        ("short", MemoryCorrupt),
        ("text", MemoryCorrupt),
        ("empty", MemoryCorrupt),
        ("other", MemoryForeign),
        ("new", MemoryTooNew),
        ("missing", MemoryUnusable),
    ):
        with pytest.raises(problem) as refused:
            restore(tmp_path / f"{name}.db", Source(path), aside="old")
        assert f"{name}.db" in str(refused.value)
        assert refused.value.hint
    assert path.read_bytes() == before
    assert not (tmp_path / "m.db.old").exists()
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


HOLDER = """
import asyncio, sys
from pathlib import Path
from dcf.memory import SYSTEM, Memory, NewAgent, Source, random_id

async def main(path, *names) -> None:
    async with Memory.open(Source(Path(path)), clock=lambda: 0, new_id=random_id) as memory:
        for name in names:
            await memory.agents.create(NewAgent(name), by=SYSTEM)
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_nothing_is_restored_while_another_process_has_the_file_open(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.db"
    await _with_agent(tmp_path / "b.db")
    await _with_agent(path, "other")
    process = started(HOLDER, path)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        assert users_of(path) == (process.pid,)
        with pytest.raises(MemoryInUse, match=str(process.pid)) as refused:
            restore(tmp_path / "b.db", Source(path), aside="old")
        assert refused.value.processes == (process.pid,)
    finally:
        # However it ends: what the system knows of it ends with it.
        process.kill()
        process.communicate()
    assert users_of(path) == ()
    restore(tmp_path / "b.db", Source(path), aside="old")
    async with opened(path) as memory:
        assert [agent.name for agent in await memory.agents.list()] == ["anna"]


async def test_the_file_cannot_be_replaced_by_the_one_who_uses_it(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await _with_agent(tmp_path / "b.db")
    async with opened(path):
        with pytest.raises(MemoryInUse):
            restore(tmp_path / "b.db", Source(path), aside="old")


async def test_commits_that_a_dead_process_left_beside_the_file_are_kept_with_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "m.db"
    await _with_agent(tmp_path / "b.db")
    process = started(HOLDER, path, "late")
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    process.kill()
    process.communicate()
    assert (tmp_path / "m.db-wal").stat().st_size > 0
    kept = restore(tmp_path / "b.db", Source(path), aside="old")
    assert kept is not None
    async with opened(path) as memory:
        assert [agent.name for agent in await memory.agents.list()] == ["anna"]
    async with opened(kept) as memory:
        assert [agent.name for agent in await memory.agents.list()] == ["late"]


async def test_a_restore_that_dies_half_way_loses_nothing_of_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, left = tmp_path / "m.db", tmp_path / "left.db"
    async with opened(live) as memory:
        await memory.back_up(tmp_path / "backup.db")
        await memory.agents.create(NewAgent("anna"), by=BY)
        # As a process that is killed leaves it: what it committed last stands beside the file.
        for end in ("", "-wal"):
            shutil.copy(f"{live}{end}", f"{left}{end}")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Path, "replace", die)
        restore(tmp_path / "backup.db", Source(left), aside="before")
    async with opened(left) as memory:
        assert (await memory.agents.find("anna")).name == "anna"
        assert await memory.check() == ()
