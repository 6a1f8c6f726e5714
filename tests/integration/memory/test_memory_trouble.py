"""A full disk, a locked or damaged file: a clear error, nothing lost, a way back."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking, started

from dcf.memory import (
    Actor,
    Memory,
    MemoryBusy,
    MemoryCorrupt,
    MemoryFull,
    MemoryProblem,
    MemoryUnusable,
    NewAgent,
    NewBlock,
    Source,
    restore,
)

BY = Actor("user", "ada")


def opened(path: Path, busy_s: float = 30.0) -> Memory:
    return Memory.open(Source(path, busy_s=busy_s), clock=Ticking(), new_id=Numbered())


async def test_a_full_file_is_said_and_what_was_there_stays(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        await memory.blocks.write(agent.id, "human", "tea", by=BY)

        def limit(pages: int) -> None:
            memory.ledger.database._writer.execute(f"PRAGMA max_page_count = {pages}")

        await asyncio.to_thread(limit, 40)
        with pytest.raises(MemoryFull) as full:
            await memory.blocks.create(agent.id, NewBlock("big", "x" * 1_000_000), by=BY)
        assert "gc --dry-run" in full.value.hint
        assert (await memory.blocks.read(agent.id, "human")).value == "tea"
        assert await memory.check() == ()
        await asyncio.to_thread(limit, 1_000_000)
        # Room was made: the same call succeeds, on the same connection.
        await memory.blocks.create(agent.id, NewBlock("big", "x" * 1_000_000), by=BY)
        assert await memory.check() == ()


FULL = """
import asyncio, resource, signal, sys
from pathlib import Path
from dcf.memory import SYSTEM, Memory, MemoryProblem, NewAgent, NewBlock, Source, random_id

async def main(path) -> None:
    async with Memory.open(Source(Path(path)), clock=lambda: 0, new_id=random_id) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=SYSTEM, agent_id="agent-1")
        await memory.blocks.create(agent.id, NewBlock("log"), by=SYSTEM)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
        for number in range(1000):
            try:
                await memory.blocks.append(agent.id, "log", f"{number:05d}" + "x" * 5000, by=SYSTEM)
            except MemoryProblem as problem:
                print(type(problem).__name__, number, flush=True)
                break
        assert await memory.check() == ()
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        await memory.blocks.append(agent.id, "log", f"{number:05d}", by=SYSTEM)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_when_the_system_gives_no_more_room_all_that_was_written_is_there(
    tmp_path: Path,
) -> None:
    process = started(FULL, tmp_path / "m.db")
    output, errors = process.communicate(timeout=60)
    assert errors == b""
    name, number = output.decode().split()
    assert name == "MemoryFull"
    assert int(number) > 3
    async with opened(tmp_path / "m.db") as memory:
        lines = (await memory.blocks.read("agent-1", "log")).value.split("\n")
        assert [line[:5] for line in lines] == [f"{one:05d}" for one in range(int(number) + 1)]
        assert await memory.check() == ()


async def test_a_file_that_another_program_holds_is_said_after_a_while(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db", busy_s=0.2) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(MemoryBusy, match=r"0\.2 s") as busy:
                await memory.blocks.write(agent.id, "human", "tea", by=BY)
            assert "doctor" in busy.value.hint
            # Who only reads is not held up.
            assert (await memory.blocks.read(agent.id, "human")).value == ""
            other.execute("ROLLBACK")
        assert (await memory.blocks.write(agent.id, "human", "tea", by=BY)).value == "tea"


async def test_a_file_that_is_locked_at_the_start_is_said(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(MemoryBusy):
            async with opened(tmp_path / "m.db", busy_s=0.1):
                pass


async def test_a_damaged_file_is_said_and_a_backup_is_the_way_back(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with opened(path) as memory:
        for number in range(20):
            await memory.agents.create(NewAgent(f"a{number}"), by=BY)
        await memory.back_up(tmp_path / "b.db")
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(MemoryCorrupt) as corrupt:
        async with opened(path) as memory:
            await memory.agents.list()
    assert "dcf memory restore" in corrupt.value.hint
    restore(tmp_path / "b.db", Source(path), aside="damaged")
    async with opened(path) as memory:
        assert len(await memory.agents.list()) == 20
        assert await memory.check() == ()
    assert (tmp_path / "m.db.damaged").exists()


async def test_a_page_that_went_bad_is_found_by_the_check(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with opened(path) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        await memory.blocks.create(agent.id, NewBlock("n", "needle " * 2000), by=BY)
    damaged = path.read_bytes().replace(b"needle needle", b"nadel, nadel,")
    path.write_bytes(damaged)
    async with opened(path) as memory:
        assert "memory_text" in [problem.code for problem in await memory.check()]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE blocks SET value = 'other' WHERE label = 'human'", "memory_text"),
        ("UPDATE blocks SET revision = 9 WHERE label = 'human'", "memory_revision"),
        ("DELETE FROM block_holders WHERE label = 'human'", "memory_lost"),
        ("DELETE FROM events WHERE entity = 'agent'", "memory_unrecorded"),
        ("DELETE FROM agent_tags", "memory_tags"),
        ("DELETE FROM agents", "memory_damaged"),
    ],
)
async def test_rows_that_disagree_with_their_events_are_found_by_the_check(
    tmp_path: Path, statement: str, code: str
) -> None:
    path = tmp_path / "m.db"
    async with opened(path) as memory:
        await memory.agents.create(NewAgent("anna", tags=("t",)), by=BY)
    with closing(sqlite3.connect(path)) as other:
        other.execute(statement)
        other.commit()
    async with opened(path) as memory:
        assert code in [problem.code for problem in await memory.check()]


@pytest.mark.parametrize("kind", ["folder", "pipe", "under a file"])
async def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_text("")
        path = path / "m.db"
    with pytest.raises(MemoryUnusable) as unusable:
        async with opened(path):
            pass
    assert str(path) in str(unusable.value)


async def test_a_cancelled_write_ends_whole(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        writing = asyncio.create_task(memory.blocks.write(agent.id, "human", "tea", by=BY))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    async with opened(tmp_path / "m.db") as memory:
        assert (await memory.blocks.read(agent.id, "human")).value == "tea"


async def test_an_error_inside_a_transaction_leaves_nothing_of_it(tmp_path: Path) -> None:
    from dcf.memory.agents import create_agent

    async with opened(tmp_path / "m.db") as memory:

        def work(journal: object) -> None:
            create_agent(journal, NewAgent("anna"))  # type: ignore[arg-type]
            raise LookupError("changed my mind")

        with pytest.raises(LookupError):
            await memory.ledger.change(BY, work)
        assert await memory.agents.list() == ()
        assert await memory.events.last() == 0


async def test_problems_are_for_people_too(tmp_path: Path) -> None:
    try:
        async with opened(tmp_path / "m.db") as memory:
            await memory.agents.find("nobody")
    except MemoryProblem as error:
        assert error.problem.code == "memory_unknown_agent"
        assert "nobody" in error.problem.message
        assert error.problem.hint
