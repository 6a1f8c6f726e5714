"""Single changes taken back, and rollbacks that are only tried."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    Memory,
    MemoryForeign,
    NewAgent,
    NewPassage,
    RollbackRefused,
    Source,
    UnknownPassage,
)

BY = Actor("user", "ada")


def opened(path: Path, busy_s: float = 30.0) -> Memory:
    return Memory.open(Source(path, busy_s=busy_s), clock=Ticking(), new_id=Numbered())


async def test_one_change_is_undone_and_later_ones_of_other_rows_stay(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        [passage] = await memory.passages.insert(agent.id, NewPassage("tea"), by=BY)
        await memory.passages.delete(passage.id, by=BY)
        gone = await memory.events.last()
        await memory.blocks.write(agent.id, "human", "later", by=BY)
        [event] = await memory.events.undo(gone, by=BY)
        assert (event.operation, event.entity_id) == ("rolled_back", passage.id)
        assert (await memory.passages.get(passage.id)).text == "tea"
        assert (await memory.blocks.read(agent.id, "human")).value == "later"
        # The undoing is a change, and can be undone.
        await memory.events.undo(event.seq, by=BY)
        with pytest.raises(UnknownPassage):
            await memory.passages.get(passage.id)
        assert await memory.check() == ()


async def test_a_change_under_a_later_one_of_the_same_is_not_undone(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        await memory.blocks.write(agent.id, "human", "one", by=BY)
        first = await memory.events.last()
        await memory.blocks.write(agent.id, "human", "two", by=BY)
        with pytest.raises(RollbackRefused) as refused:
            await memory.events.undo(first, by=BY, dry_run=True)
        assert [one.later[0].seq for one in refused.value.conflicts] == [first + 1]
        assert (await memory.blocks.read(agent.id, "human")).value == "two"


async def test_a_rollback_that_is_only_tried_says_what_it_would_do(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=BY)
        block = await memory.blocks.write(agent.id, "human", "one", by=BY)
        then = await memory.events.last()
        await memory.blocks.write(agent.id, "human", "two", by=BY)
        last = await memory.events.last()
        for tried in (
            await memory.events.roll_back_block(block.id, then, by=BY, dry_run=True),
            await memory.events.roll_back_agent(agent.id, then, by=BY, dry_run=True),
            await memory.events.undo(last, by=BY, dry_run=True),
        ):
            assert [(event.entity_id, event.back_to) for event in tried] == [(block.id, then)]
        assert await memory.events.last() == last
        assert (await memory.blocks.read(agent.id, "human")).value == "two"
        assert await memory.events.undo(last + 1, by=BY) == ()


async def test_opening_waits_for_no_writer(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        await memory.agents.create(NewAgent("anna"), by=BY)
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with opened(tmp_path / "m.db", busy_s=0.1) as memory:
            assert len(await memory.agents.list()) == 1


async def test_a_file_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "m.db")) as other:
        other.execute("CREATE TABLE mine (a)")
        other.commit()
    before = (tmp_path / "m.db").read_bytes()
    with pytest.raises(MemoryForeign):
        async with opened(tmp_path / "m.db"):
            pass
    assert (tmp_path / "m.db").read_bytes() == before
