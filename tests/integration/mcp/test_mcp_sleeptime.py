"""A server keeps the memory of agents that rest in order."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from integration.mcp.platforms import desk_on

from dcf.memory import Actor, Memory, NewAgent, NewBlock, Source, random_id

SAME = "The harbour opens at 6.\nAda is in Oslo.\nThe harbour opens at 6."
ONCE = "The harbour opens at 6.\nAda is in Oslo."


async def test_agents_with_sleeptime_are_consolidated_while_they_rest(
    redis_url: str, tmp_path: Path
) -> None:
    me = Actor("user", "ada")
    source = Source(tmp_path / "memory.db")
    async with (
        Memory.open(source, clock=_an_hour_ago, new_id=random_id, embedder="none") as before,
        desk_on(redis_url, tmp_path) as desk,
    ):
        for name in ("rested", "busy"):
            new = NewAgent(name, enable_sleeptime=name == "rested")
            await before.agents.create(new, by=me, agent_id=name, blocks=[NewBlock("notes", SAME)])
        # The first tool that needs the memory opens it.
        await desk.call("list_memory_blocks", agent_id="busy")
        async with asyncio.timeout(20):
            while (await before.blocks.read("rested", "notes")).value != ONCE:
                await asyncio.sleep(0.05)
        assert (await before.blocks.read("busy", "notes")).value == SAME


def _an_hour_ago() -> int:
    return time.time_ns() // 1_000_000 - 3_600_000
