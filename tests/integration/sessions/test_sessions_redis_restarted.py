"""Redis is killed and started again under a session at work: nothing is lost, nothing doubled."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from integration.sessions.hosts import ME, Doing, hosts_on

from control_plane import Disconnected, ServerError
from control_plane.embedded import Embedded
from dcf.sessions import NewCompanion, Order
from dcf.workflow import Outcome, Succeeded, Task

T = TypeVar("T")
TASKS = 24
COMPANIONS = ("a", "b", "c")


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[Embedded]:
    # With `everysec` what was acknowledged in the last second may be lost.
    embedded = Embedded(short_dir, fsync="always")
    yield embedded
    await embedded.stop()


async def kill(server: Embedded) -> None:
    """SIGKILL, as the kernel does it to a process that took too much memory."""
    pid = (await server.status()).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    while (await server.status()).running:
        await asyncio.sleep(0.01)


async def insist(do: Callable[[], Awaitable[T]]) -> T:
    """Do it again until the server is there: what users of a session do, with the same ids."""
    while True:
        try:
            return await do()
        except (Disconnected, ServerError):
            await asyncio.sleep(0.05)


async def test_redis_restarted_under_a_session_at_work(server: Embedded) -> None:
    url = (await server.start()).url

    async def slowly(task: Task) -> Outcome:
        await asyncio.sleep(0.05)
        return Succeeded({"did": task.lease.workflow_id}, "done")

    agents = Doing(slowly)
    async with hosts_on(url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        for name in COMPANIONS:
            await hosts.sessions.employ("s1", NewCompanion(ME, name=name))
        for number in range(2):
            hosts.host(agents, name=f"h{number}", ttl_ms=1_500)

        async def delegate_all() -> None:
            for number in range(TASKS):
                order = Order("do it", ME, task_id=f"t{number}")
                await insist(lambda order=order: hosts.sessions.delegate("s1", order))

        async def restart(after: int) -> None:
            while len(agents.begun) < after:
                await asyncio.sleep(0.005)
            await kill(server)
            assert (await server.start()).url == url

        delegating = asyncio.create_task(delegate_all())
        async with asyncio.timeout(60):
            for after in (TASKS // 4, TASKS // 2):
                await restart(after)
            await delegating
            while (await insist(lambda: hosts.sessions.get("s1"))).open_tasks:
                await asyncio.sleep(0.05)
        tasks = await hosts.sessions.tasks("s1")
        session = await hosts.sessions.get("s1")
        states = [
            await hosts.sessions.store.states(f"t{number}", ["task"]) for number in range(TASKS)
        ]
    assert Counter(task.status for task in tasks) == {"succeeded": TASKS}
    assert session.head.counts.succeeded == session.head.counts.delegated == TASKS
    assert {(state["task"].visit, state["task"].try_) for state in states} == {(1, 1)}
    # What was begun twice had lost its lease with the server, and was taken over.
    assert {task for _, task in agents.begun} == {f"t{number}" for number in range(TASKS)}
