"""Redis is killed and started again under load: nothing acknowledged is lost, nothing doubled."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from campaigns import CONTRACT, settled
from flows import Flow, linear, seed, step
from workers import seal_off

from control_plane import (
    Committed,
    Disconnected,
    HintQueue,
    Lease,
    RedisBackend,
    ServerError,
    Store,
    history,
    timers,
)
from control_plane.embedded import Embedded

pytestmark = settled(*CONTRACT)

RUNS = 6
TTL_MS = 1_500
FLOW: Flow = {
    "start": "A",
    "states": {
        "A": {"task": "A", "next": "M"},
        "M": {"map": linear("T", "U"), "window": 4, "next": "B"},
        **linear(*(f"B{number}" for number in range(20)))["states"],
        "B": {"task": "B", "next": "B0"},
    },
}


class Driver:
    """A worker on real time that waits for a server that is away, like those of production."""

    def __init__(self, url: str, name: str) -> None:
        self.store = Store(RedisBackend.from_url(url))
        self.queue = HintQueue(RedisBackend.from_url(url), pool="default", consumer=name)
        self.name = name
        self.acknowledged: list[tuple[str, str, int]] = []

    async def run(self) -> None:
        """Work for ever."""
        while True:
            try:
                await self.queue.open()
                for hint in await self.queue.read(4, block_ms=20):
                    answer = await self.store.acquire(
                        hint.workflow_id,
                        hint.path,
                        owner=self.name,
                        ttl_ms=TTL_MS,
                        hint=hint.key,
                        alone="here",
                    )
                    if isinstance(answer, Lease):
                        await self._advance(answer)
                await timers.sweep(self.store)
            except (Disconnected, ServerError):
                await asyncio.sleep(0.02)

    async def _advance(self, lease: Lease) -> None:
        current: Lease | None = lease
        while current is not None:
            answer = await self._commit(current, await step(self.store, FLOW, current))
            if not isinstance(answer, Committed):
                return
            self.acknowledged.append((current.workflow_id, current.path, current.visit))
            current = answer.lease

    async def _commit(self, lease: Lease, commit: Any) -> Any:
        commit_id = self.store.new_id()
        while True:
            try:
                return await self.store.commit(lease, commit, commit_id=commit_id, in_place=True)
            except Disconnected:
                await asyncio.sleep(0.02)

    async def close(self) -> None:
        await self.store.backend.close()


@pytest.fixture(params=["everysec", "always"])
async def server(request: pytest.FixtureRequest, short_dir: Path) -> AsyncIterator[Embedded]:
    embedded = Embedded(short_dir, fsync=request.param)
    yield embedded
    await embedded.stop()


async def kill(server: Embedded) -> None:
    """SIGKILL, as the kernel does it to a process that took too much memory."""
    pid = (await server.status()).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    while (await server.status()).running:
        await asyncio.sleep(0.01)


async def test_a_server_killed_under_load_loses_and_doubles_nothing(
    server: Embedded, request: pytest.FixtureRequest
) -> None:
    url = (await server.start()).url
    drivers = [Driver(url, f"d{number}") for number in range(4)]
    tasks = [asyncio.create_task(driver.run()) for driver in drivers]
    store = Store(RedisBackend.from_url(url))
    runs = [f"r{number}" for number in range(RUNS)]
    for run in runs:
        await seed(store, FLOW, list(range(6)), run=run)
    for acknowledged in (40, 150):
        while sum(len(driver.acknowledged) for driver in drivers) < acknowledged:
            await asyncio.sleep(0.005)
        await kill(server)
        assert (await server.start()).url == url
    async with asyncio.timeout(60):
        while {await store.run_status(run) for run in runs} != {"succeeded"}:
            await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    steps: Counter[tuple[str, str]] = Counter()
    for run in runs:
        async for event in history.read(store, run):
            if event.event["type"] in ("StateDone", "FrameOpened", "FannedOut", "Joined"):
                steps[run, f"{event.event['type']} {event.event['path']}"] += 1
        assert (await store.outputs(run, ["M"]))["M"]["data"] == list(range(6))
        assert await seal_off(store, run=run) is None
    assert set(steps.values()) == {1}
    # A, M (twice: open and join), B, B0…B19, and 6 frames with ticket, T and U
    assert len(steps) == RUNS * (1 + 3 + 21 + 6 * 3)
    heard = Counter(entry for driver in drivers for entry in driver.acknowledged)
    for run, path, _ in heard:
        kind = "FrameOpened" if path.endswith("]") else "StateDone"
        assert steps[run, f"{kind} {path}"] == 1
    # M is committed twice, to open and to join. With "everysec" the server may hold a write back
    # while the disk is busy and lose it with its life: that step is then done again, once.
    if "always" in request.node.name:
        assert {path for (_, path, _), times in heard.items() if times > 1} <= {"M"}
    for driver in drivers:
        await driver.close()
    await store.backend.close()
