"""What an idle worker and what waiting states take."""

from __future__ import annotations

import asyncio
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.machines import passes
from benchmarks.runs import document, submit
from benchmarks.workers import worker_processes
from control_plane import RedisBackend, Store

_STATES = 10_000
_SETTLE_S = 1.0


async def memory(url: str, generated: Path) -> list[Figure]:
    """Resident memory of an idle worker that has skills, and of 10,000 pending states in Redis."""
    async with worker_processes(url, 1, generated=generated, stub="http://127.0.0.1:9") as pids:
        await asyncio.sleep(_SETTLE_S)
        idle = _resident_mb(pids[0])
    store = Store(RedisBackend.from_url(url), pool="nobody")
    before = await _used_mb(store)
    await submit(store, document(passes(_STATES)), 1, {"n": 1})
    used = await _used_mb(store) - before
    await store.backend.close()
    return [
        Figure("idle worker, resident", idle, "MB"),
        Figure(f"{_STATES:,} pending states in Redis", used, "MB"),
    ]


def _resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no resident size for process {pid}")


async def _used_mb(store: Store) -> float:
    text: str = await store.backend.command("INFO", "memory")
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return int(fields["used_memory"]) / 1_000_000
