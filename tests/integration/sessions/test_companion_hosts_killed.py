"""Companion hosts that are killed (SIGKILL) in the middle of a task that has an effect."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import python
from integration.sessions import mortal_host
from integration.sessions.hosts import ME, Hosts, hosts_on
from integration.sessions.mortal_host import CATALOG
from integration.tools.conftest import serving_app

from control_plane import claims, history, keys
from dcf.sessions import Order, Session, Sessions, SessionTask, seat_of
from dcf.tools.stub import create_stub_app

_TESTS = Path(__file__).parents[2]
MOMENTS = ("begun", "called", "performed")
TASK = Order("pay it", ME, skills=("paying",), input={"order": "o-1"}, task_id="t")


@asynccontextmanager
async def host_process(
    redis_url: str, tools_url: str, name: str, moment: str = ""
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A host at work in a process of its own, which ends with the block if it did not before."""
    process = await asyncio.create_subprocess_exec(
        *(python(), mortal_host.__file__, redis_url, tools_url, name, moment),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_TESTS.parent), str(_TESTS)])},
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def stage(redis_url: str, tmp_path: Path) -> AsyncIterator[tuple[Hosts, str, Any]]:
    """Session s1 with companion a, the URL of its tools, and the calls that they got."""
    config = tmp_path / "stub_config.json"
    tools = {"look": {"defaultResponse": {"seen": True}}, "pay": {"defaultResponse": "{{uuid}}"}}
    config.write_text(json.dumps({"seed": 1, "servers": {"shop": {"tools": tools}}}))
    app = create_stub_app(config)
    async with hosts_on(redis_url) as hosts, serving_app(app) as tools_url, asyncio.timeout(60):
        hosts.sessions = Sessions(hosts.open_store(), catalog=_catalog)
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        yield hosts, tools_url, app.state.desk.calls


async def _catalog() -> Any:
    return CATALOG


async def end_seat(hosts: Hosts, companion_id: str) -> None:
    """The seat of who was killed ends now rather than in 15 s."""
    seat = seat_of("s1", companion_id)
    await claims.put(hosts.sessions.backend, keys.COMPANIONS, seat, 1)


async def until(hosts: Hosts, holds: Callable[[Session], bool]) -> None:
    while not holds(await hosts.sessions.tick("s1")):
        await asyncio.sleep(0.02)


async def tries_of(hosts: Hosts) -> tuple[int, int]:
    """Visit and try of the task's only state."""
    states = await hosts.sessions.store.states("t", ["paying"])
    return states["paying"].visit, states["paying"].try_


def paid_once(calls: Any, task: SessionTask, moment: str) -> None:
    paid = [call for call in calls.to_list() if call["tool"] == "pay"]
    assert task.status == "succeeded"
    assert len(paid) == (1 if moment == "begun" else 2)
    assert {call["idempotency_key"] for call in paid} == {"t/paying/1/1/1"}
    assert [call["replayed"] for call in paid].count(False) == 1


@pytest.mark.parametrize("moment", MOMENTS)
async def test_another_host_takes_the_companion_and_goes_on_with_its_task(
    redis_url: str, tmp_path: Path, moment: str
) -> None:
    async with stage(redis_url, tmp_path) as (hosts, tools_url, calls):
        async with host_process(redis_url, tools_url, "h1", moment) as first:
            await hosts.sessions.delegate("s1", TASK)
            assert await first.wait() == -signal.SIGKILL
        await end_seat(hosts, "companion-a")
        async with host_process(redis_url, tools_url, "h2"):
            task = await hosts.closed("s1", "t", longest_s=30)
        paid_once(calls, task, moment)
        assert await tries_of(hosts) == (1, 1)
    assert [one.companion_id for one in task.attempts] == ["companion-a"]


@pytest.mark.parametrize("moment", MOMENTS)
async def test_nobody_takes_the_companion_and_another_companion_goes_on_with_its_task(
    redis_url: str, tmp_path: Path, moment: str
) -> None:
    async with stage(redis_url, tmp_path) as (hosts, tools_url, calls):
        async with host_process(redis_url, tools_url, "h1", moment) as first:
            await hosts.seated("s1", 1)
            # It has no room for another one.
            await hosts.employ("s1", "b")
            async with host_process(redis_url, tools_url, "h2"):
                await hosts.seated("s1", 2)
                await hosts.sessions.delegate("s1", TASK)
                assert await first.wait() == -signal.SIGKILL
                await end_seat(hosts, "companion-a")
                task = await hosts.closed("s1", "t", longest_s=30)
        paid_once(calls, task, moment)
        assert await tries_of(hosts) == (1, 1)
        session = await hosts.sessions.get("s1")
        events = [event.event async for event in history.read(hosts.sessions.store, "t")]
    assert [(one.companion_id, one.lost) for one in task.attempts] == [
        ("companion-a", True),
        ("companion-b", False),
    ]
    assert session.companions["companion-a"].status == "lost"
    # The run itself tells why it went on elsewhere.
    moved = [event for event in events if event["type"] == "RunMoved"]
    assert "companion-a" in moved[0]["reason"]


async def test_a_task_whose_only_companion_dies_fails_at_its_deadline_and_says_why(
    redis_url: str, tmp_path: Path
) -> None:
    async with stage(redis_url, tmp_path) as (hosts, tools_url, calls):
        async with host_process(redis_url, tools_url, "h1", "called") as first:
            await hosts.seated("s1", 1)
            order = Order("pay it", ME, skills=("paying",), input={}, task_id="t", timeout_s=8)
            await hosts.sessions.delegate("s1", order)
            assert await first.wait() == -signal.SIGKILL
        await end_seat(hosts, "companion-a")
        await until(hosts, lambda session: not session.open_tasks)
        task = await hosts.sessions.task("s1", "t")
    assert task.status == "failed"
    assert task.error is not None
    assert task.error["code"] == "deadline_passed"
    assert "companion-a" in task.error["message"]
    assert len([call for call in calls.to_list() if call["tool"] == "pay"]) == 1
