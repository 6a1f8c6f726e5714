"""Agents and blocks of the memory, at a thousand agents with ten blocks each:
``python -m benchmarks.memory_blocks``."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.figure import Figure, quantile
from dcf.memory import SYSTEM, Memory, NewAgent, NewBlock, Source, random_id

_AGENTS, _BLOCKS, _BYTES = 1_000, 10, 1_500
_PROCESSES = 10
_LARGE = 12_000_000


async def memory_blocks(scratch: Path, samples: int = 1_000) -> list[Figure]:
    """How long agents and blocks take to make, read and change, and what they take on disk."""
    path = scratch / "memory.db"
    chance = random.Random(11)
    async with _opened(path) as memory:
        made = await _agents(memory)
        agents = [f"agent-{number}" for number in range(_AGENTS)]

        async def write() -> None:
            label = f"block-{chance.randrange(_BLOCKS)}"
            await memory.blocks.write(chance.choice(agents), label, _text(chance), by=SYSTEM)

        async def append() -> None:
            label = f"block-{chance.randrange(_BLOCKS)}"
            await memory.blocks.append(chance.choice(agents), label, "one more line", by=SYSTEM)

        async def read() -> None:
            await memory.blocks.list(chance.choice(agents))

        wrote = await _times(write, samples)
        appended = await _times(append, samples)
        listed = await _times(read, samples)
        backup_ms = await _times(lambda: memory.back_up(scratch / "b.db", overwrite=True), 1)
        check_ms = await _times(memory.check, 1)
    size_mb = path.stat().st_size / 1e6
    shared = await asyncio.to_thread(_by_processes, path, samples // 10)
    large = await _large(scratch / "large.db")
    return [
        Figure("agent with its default blocks created, p50", quantile(made, 0.5), "ms"),
        Figure("agent with its default blocks created, p95", quantile(made, 0.95), "ms"),
        Figure(f"block written among {_AGENTS * _BLOCKS:,}, p50", quantile(wrote, 0.5), "ms"),
        Figure(f"block written among {_AGENTS * _BLOCKS:,}, p95", quantile(wrote, 0.95), "ms"),
        Figure("line appended to a block, p95", quantile(appended, 0.95), "ms"),
        Figure("all blocks of an agent read, p95", quantile(listed, 0.95), "ms"),
        Figure(f"block written by {_PROCESSES} processes at once", shared, "per s"),
        Figure("backup while open", backup_ms[0], "ms"),
        Figure("integrity check", check_ms[0], "ms"),
        Figure("memory file", size_mb, "MB"),
        *large,
    ]


def _opened(path: Path) -> Memory:
    return Memory.open(Source(path), clock=lambda: time.time_ns() // 1_000_000, new_id=random_id)


async def _agents(memory: Memory) -> list[float]:
    """Milliseconds to create each of a thousand agents, which get ten blocks."""
    took = []
    chance = random.Random(3)
    for number in range(_AGENTS):
        name = f"agent-{number}"
        new = NewAgent(name, tags=(f"tag-{number % 7}",))
        began = time.perf_counter()
        await memory.agents.create(new, by=SYSTEM, agent_id=name)
        took.append((time.perf_counter() - began) * 1e3)
        for block in range(_BLOCKS):
            await memory.blocks.create(name, NewBlock(f"block-{block}", _text(chance)), by=SYSTEM)
    return took


async def _times(call: Callable[[], Awaitable[object]], count: int) -> list[float]:
    took = []
    for _ in range(count):
        began = time.perf_counter()
        await call()
        took.append((time.perf_counter() - began) * 1e3)
    return took


async def _large(path: Path) -> list[Figure]:
    """A block of twelve megabytes."""
    async with _opened(path) as memory:
        await memory.agents.create(NewAgent("a"), by=SYSTEM, agent_id="a", blocks=[])
        new = NewBlock("large", "0123456789 " * (_LARGE // 11))
        made = await _times(lambda: memory.blocks.create("a", new, by=SYSTEM), 1)
        appended = await _times(lambda: memory.blocks.append("a", "large", "x", by=SYSTEM), 5)
        read = await _times(lambda: memory.blocks.read("a", "large"), 5)
    return [
        Figure("block of 12 MB created", made[0], "ms"),
        Figure("line appended to a block of 12 MB, p50", quantile(appended, 0.5), "ms"),
        Figure("block of 12 MB read, p50", quantile(read, 0.5), "ms"),
    ]


def _by_processes(path: Path, writes: int) -> float:
    """Writes per second of ten processes on one file."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(_PROCESSES + 1)
    processes = [
        context.Process(target=_write_many, args=(path, number, writes, ready))
        for number in range(_PROCESSES)
    ]
    for process in processes:
        process.start()
    ready.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("a process that writes to the memory failed")
    return _PROCESSES * writes / (time.perf_counter() - began)


def _write_many(path: Path, number: int, writes: int, ready: object) -> None:
    async def work() -> None:
        async with _opened(path) as memory:
            ready.wait()  # type: ignore[attr-defined]
            chance = random.Random(number)
            for _ in range(writes):
                agent, block = chance.randrange(_AGENTS), chance.randrange(_BLOCKS)
                await memory.blocks.write(
                    f"agent-{agent}", f"block-{block}", _text(chance), by=SYSTEM
                )

    asyncio.run(work())


def _text(chance: random.Random) -> str:
    return f"{chance.random()} the parcel and the tenant ".ljust(_BYTES, "x")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dcf-memory-") as folder:
        for figure in asyncio.run(memory_blocks(Path(folder))):
            print(f"{figure.name:<48} {figure.value:>10.2f} {figure.unit}")
