"""``python -m benchmarks.session_load``: many sessions at once, on one machine.

Each session has companions that are idle at first. In each round its conductor delegates one task
to each of them, waits until all are over, thinks a while, and goes on. The companions are rehearsal
agents; their tasks have no tools. Delegation to start is read from the documents: both moments are
of Redis's clock, and only tasks count that found an idle companion.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import Figure, quantile
from benchmarks.tool_hops import author
from benchmarks.workers import processes
from control_plane import RedisBackend, Store
from control_plane.embedded import Embedded
from dcf.memory import Source
from dcf.sessions import NewCompanion, Order, Sessions, SessionTask
from dcf.sessions.companions import HostConfig, serve_companions
from dcf.worker import Post, WorkerConfig

_ME = "conductor"
_LOOK_S = 0.25
_LEASE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Load:
    """``sessions`` with ``companions`` each, that do ``tasks`` each; ``think_s`` (at most, seconds)
    lies between two rounds. ``hosts`` processes serve them."""

    sessions: int
    companions: int
    tasks: int
    think_s: float
    hosts: int
    memory: bool


async def session_load(load: Load, scratch: Path) -> list[Figure]:
    """What the load came to."""
    embedded = Embedded(scratch / "home")
    url = (await embedded.start()).url
    backend = RedisBackend.from_url(url, connections=64)
    sessions = Sessions(Store(backend))
    try:
        async with _hosts(url, scratch, load) as pids:
            begun = time.perf_counter()
            names = [f"session-{number}" for number in range(load.sessions)]
            await asyncio.gather(*(_begin(sessions, name, load) for name in names))
            await asyncio.gather(*(_seated(sessions, name, load) for name in names))
            ready = time.perf_counter()
            empty = await _used(backend)
            chance = random.Random(1)
            pauses = [[chance.uniform(0, load.think_s) for _ in range(load.tasks)] for _ in names]
            await asyncio.gather(
                *(
                    _conduct(sessions, name, load, own)
                    for name, own in zip(names, pauses, strict=True)
                )
            )
            done = time.perf_counter()
            full = await _used(backend)
            rss = sum(_resident(pid) for pid in pids)
        tasks = [task for name in names for task in await sessions.tasks(name)]
    finally:
        await backend.close()
        await embedded.stop()
    return _figures(load, tasks, ready - begun, done - ready, full - empty, rss)


def _figures(
    load: Load, tasks: list[SessionTask], making_s: float, working_s: float, grown: int, rss: int
) -> list[Figure]:
    failed = [task for task in tasks if task.status != "succeeded"]
    waits = [
        task.started_at - task.delegated_at
        for task in tasks
        if task.started_at is not None and task.attempts[0].at == task.delegated_at
    ]
    many = f"{load.sessions} x {load.companions} x {load.tasks}"
    return [
        Figure(f"{many}: sessions and companions made and served in", making_s, "s"),
        Figure("tasks", len(tasks), ""),
        Figure("tasks that failed", len(failed), ""),
        Figure("tasks done", len(tasks) / working_s, "/s"),
        Figure("found an idle companion", 100 * len(waits) / len(tasks), "%"),
        Figure("delegation to start, p50", quantile(waits, 0.5), "ms"),
        Figure("delegation to start, p95", quantile(waits, 0.95), "ms"),
        Figure("delegation to start, p99", quantile(waits, 0.99), "ms"),
        Figure("Redis, for each task", grown / len(tasks) / 1024, "KiB"),
        Figure(f"{load.hosts} hosts, together", rss / 1024 / 1024, "MiB"),
    ]


async def _begin(sessions: Sessions, name: str, load: Load) -> None:
    await sessions.create(name, _ME, "show what it can carry")
    for _ in range(load.companions):
        await sessions.employ(name, NewCompanion(_ME))


async def _seated(sessions: Sessions, name: str, load: Load) -> None:
    while True:
        there = (await sessions.get(name)).companions.values()
        if sum(one.seated_at is not None for one in there) == load.companions:
            return
        await asyncio.sleep(_LOOK_S)


async def _conduct(sessions: Sessions, name: str, load: Load, pauses: Iterable[float]) -> None:
    for number, pause in enumerate(pauses):
        await asyncio.sleep(pause)
        order = Order(f"Round {number}", _ME, input={"n": number}, timeout_s=3_600)
        for _ in range(load.companions):
            await sessions.delegate(name, order)
        while (await sessions.get(name)).open_tasks:  # noqa: ASYNC110 - remote
            await asyncio.sleep(_LOOK_S)


@asynccontextmanager
async def _hosts(url: str, scratch: Path, load: Load) -> AsyncIterator[list[int]]:
    """Host processes that are ready; their process ids."""
    generated = author(scratch)
    most = -(-load.sessions * load.companions // load.hosts) + 50
    memory = str(scratch / "memory.db") if load.memory else ""
    serving = [sys.executable, "-m", "benchmarks.session_load", "--serve", url]
    with_what = [str(most), str(generated), memory]
    async with processes(
        [*serving, f"host-{number}", *with_what] for number in range(load.hosts)
    ) as pids:
        yield pids


def _serve(url: str, name: str, most: str, generated: str, memory: str) -> None:
    """A host process itself."""
    post = Post(
        redis_url=url,
        name=name,
        config=WorkerConfig(ttl_ms=_LEASE_MS),
        generated=Path(generated),
        env={"DCF_STUB_URL": "http://127.0.0.1:9", "DCF_GRAPH": "off"},
        memory=Source(Path(memory)) if memory else None,
    )
    asyncio.run(
        serve_companions(post, HostConfig(int(most)), on_ready=lambda: print("ready", flush=True))
    )


async def _used(backend: RedisBackend) -> int:
    text = str(await backend.command("INFO", "memory"))
    return int(text.split("used_memory:")[1].split()[0])


def _resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    pages = Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        _serve(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks.session_load", description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--companions", type=int, default=5, help="of each session")
    parser.add_argument("--tasks", type=int, default=10, help="of each companion")
    parser.add_argument("--think", type=float, default=60.0, help="seconds between rounds, at most")
    parser.add_argument("--hosts", type=int, default=1, help="processes")
    parser.add_argument("--memory", action="store_true", help="companions remember")
    given = parser.parse_args()
    load = Load(
        given.sessions, given.companions, given.tasks, given.think, given.hosts, given.memory
    )
    with tempfile.TemporaryDirectory(prefix="dcf-bench-") as folder:
        for figure in asyncio.run(session_load(load, Path(folder))):
            print(f"{figure.name:60} {figure.value:12.1f} {figure.unit}")


if __name__ == "__main__":
    main()
