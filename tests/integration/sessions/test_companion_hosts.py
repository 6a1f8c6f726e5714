"""Companion hosts: they take seats, do tasks one at a time, and give seats back."""

from __future__ import annotations

import asyncio

import pytest
from integration.sessions.hosts import ME, Doing, hosts_on

from control_plane import UnknownSession, claims, keys
from dcf.sessions import Order, seat_of
from dcf.sessions.companions import HostConfig, serve_companions
from dcf.worker import Post
from dcf.workflow import Outcome, Succeeded, Task


async def done(task: Task) -> Outcome:
    return Succeeded({"did": task.lease.workflow_id}, "done")


async def test_tasks_are_done_by_companions_one_at_a_time_each(redis_url: str) -> None:
    at_once = {"s1.companion-a": 0, "s1.companion-b": 0}
    most = 0

    async def slowly(task: Task) -> Outcome:
        nonlocal most
        at_once[task.lease.owner] += 1
        most = max(most, *at_once.values())
        await asyncio.sleep(0.05)
        at_once[task.lease.owner] -= 1
        return await done(task)

    agents = Doing(slowly)
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a", "b")
        hosts.host(agents)
        for number in range(6):
            order = Order("do it", ME, task_id=f"t{number}")
            await hosts.sessions.delegate("s1", order)
        ended = [await hosts.closed("s1", f"t{number}") for number in range(6)]
    assert [task.status for task in ended] == ["succeeded"] * 6
    assert sorted(task for _, task in agents.begun) == [f"t{number}" for number in range(6)]
    assert {who for who, _ in agents.begun} == {"s1.companion-a", "s1.companion-b"}
    assert most == 1


async def test_a_host_that_drains_hands_companion_and_task_over(redis_url: str) -> None:
    began = asyncio.Event()

    async def hang(_task: Task) -> Outcome:
        began.set()
        await asyncio.sleep(60)
        raise AssertionError("it was to be given back")

    first, second = Doing(hang), Doing(done)
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        old = hosts.host(first, drain_s=0.1)
        await hosts.sessions.delegate("s1", Order("do it", ME, task_id="t"))
        async with asyncio.timeout(5):
            await began.wait()
        await hosts.end(old)
        hosts.host(second, name="h2")
        task = await hosts.closed("s1", "t")
    assert (task.status, task.companion_id) == ("succeeded", "companion-a")
    assert second.begun == [("s1.companion-a", "t")]
    assert len(task.attempts) == 1


async def test_a_task_of_a_host_that_died_goes_on_elsewhere_with_one_effect(redis_url: str) -> None:
    began = asyncio.Event()
    effects: list[str] = []

    async def hang(_task: Task) -> Outcome:
        began.set()
        await asyncio.sleep(60)
        raise AssertionError("it was to die")

    async def effect(task: Task) -> Outcome:
        effects.append(task.lease.idempotency_key)
        return await done(task)

    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        first = hosts.host(Doing(hang), ttl_ms=500)
        await hosts.sessions.delegate("s1", Order("do it", ME, task_id="t"))
        async with asyncio.timeout(5):
            await began.wait()
        await hosts.kill(first)
        # Its seat ends now rather than in 15 s.
        seat = seat_of("s1", "companion-a")
        await claims.put(hosts.sessions.backend, keys.COMPANIONS, seat, 1)
        hosts.host(Doing(effect), name="h2")
        task = await hosts.closed("s1", "t")
    assert task.status == "succeeded"
    assert len(effects) == 1


async def test_lost_and_doubled_hints_do_a_task_once(redis_url: str) -> None:
    agents = Doing(done)
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        hosts.host(agents)
        await hosts.seated("s1", 1)
        inbox = "inbox.s1.companion-a"
        await hosts.sessions.delegate("s1", Order("do it", ME, task_id="t1"))
        await hosts.sessions.store.send_hints("t1", ["task"], inbox)
        await hosts.closed("s1", "t1")
        # The stream goes, with its group and whatever was in it.
        await hosts.sessions.backend.command("DEL", keys.queue(inbox))
        await hosts.sessions.delegate("s1", Order("do it", ME, task_id="t2"))
        await hosts.sessions.backend.command("DEL", keys.queue(inbox))
        assert (await hosts.closed("s1", "t2")).status == "succeeded"
    assert sorted(task for _, task in agents.begun) == ["t1", "t2"]


async def test_a_host_of_a_session_that_is_not_there_does_not_start(redis_url: str) -> None:
    post = Post(redis_url=redis_url, name="h", env={"DCF_GRAPH": "off"})
    with pytest.raises(UnknownSession, match="nothing"):
        await serve_companions(post, HostConfig(1, "nothing"), on_ready=lambda: None)
