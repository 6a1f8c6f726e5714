"""What goes on beside other work ends before what it works with is closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.agents import meanwhile
from dcf.memory import SYSTEM, Memory, NewAgent, NewBlock, Source
from dcf.memory.consolidation import (
    Consolidator,
    Scheduler,
    SchedulerSettings,
    Written,
)


async def test_the_end_of_the_block_waits_for_the_end_of_the_work() -> None:
    begun, said = asyncio.Event(), []

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            said.append("gone")

    async with meanwhile(work()):
        await begun.wait()
    assert said == ["gone"]


async def test_a_defect_of_the_work_is_told_at_once_and_not_at_the_end_of_the_block(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken() -> None:
        raise KeyError("who")

    async with meanwhile(broken()):
        while not caplog.messages:
            await asyncio.sleep(0)
        assert "broken broke, and does nothing more in this process" in caplog.text
        assert "KeyError: 'who'" in caplog.text
    assert len(caplog.messages) == 1


async def test_a_consolidation_that_is_cut_off_leaves_no_claim(tmp_path: Path) -> None:
    asked, clock = asyncio.Event(), Ticking()

    async def never(_prompt: str, _tokens: int) -> Written:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        notes = "\n".join(f"Ship {number} leaves at {number}:00." for number in range(100))
        blocks = [NewBlock("notes", notes, soft_limit=500)]
        await memory.agents.create(NewAgent("a", enable_sleeptime=True), by=SYSTEM, blocks=blocks)
        clock.now += 1_000_000
        settings = SchedulerSettings(idle_s=0)
        async with meanwhile(Scheduler(Consolidator(memory, write=never), settings).run_for_ever()):
            async with asyncio.timeout(20):
                await asked.wait()
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        claims = await memory.ledger.read(
            lambda connection: connection.execute("SELECT * FROM consolidation_claims").fetchall()
        )
    assert claims == []
