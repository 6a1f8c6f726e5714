"""What the tasks of sessions leave to be known: which failed with whom, and which had to be taken
from somebody."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from integration.sessions.hosts import ME, Doing, Hosts, hosts_on
from memory_world import Numbered, Ticking

from dcf.memory import ContextSetting, Memory, Observation, Source
from dcf.sessions import Order
from dcf.sessions.companions import DelegationObserver, EndedSessions
from dcf.worker import RunObserver
from dcf.workflow import Failed, Outcome, Succeeded, Task

A, B = "companion-a", "companion-b"
CUSTOMER = "customer 4711 of Kassel"
"""What a task is about, and what comes of it."""


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


async def fails_if_bad(task: Task) -> Outcome:
    if "bad" in task.lease.workflow_id:
        return Failed("Orders.NotPaid", CUSTOMER)
    return Succeeded(CUSTOMER, CUSTOMER)


async def session_on(hosts: Hosts, session_id: str = "s1") -> None:
    await hosts.sessions.create(session_id, ME, "help")
    await hosts.employ(session_id, "a", specialization="billing")


def order(task_id: str, **said: object) -> Order:
    return replace(Order(f"Help {CUSTOMER}", ME, task_id=task_id, task_type="refund"), **said)  # type: ignore[arg-type]


def observer_of(hosts: Hosts, memory: Memory, project: str = "/shop") -> DelegationObserver:
    return DelegationObserver(hosts.sessions, hosts.sessions.store, memory, project)


async def rows(memory: Memory) -> dict[str, Observation]:
    found = await memory.observations.list()
    for one in found:
        assert CUSTOMER not in repr(one), "no agent is told what a task was about"
    return {one.title: one for one in found}


async def test_a_task_that_failed_says_who_had_it_and_with_which_error(
    redis_url: str, memory: Memory
) -> None:
    async with hosts_on(redis_url) as hosts:
        await session_on(hosts)
        hosts.host(Doing(fails_if_bad))
        for task_id in ("good-1", "bad-1", "bad-2"):
            await hosts.sessions.delegate("s1", order(task_id))
            await hosts.closed("s1", task_id)
        observer = observer_of(hosts, memory)
        await settled(hosts, observer, "good-1", "bad-1", "bad-2")
        assert await observer.sweep() == 2
        assert await observer.sweep() == 0, "each is kept once"
        assert await RunObserver(hosts.sessions.store, memory, "/shop").sweep() == 0
    (title,) = await rows(memory)
    one = (await rows(memory))[title]
    assert (one.type, title) == ("discovery", "refund: billing failed with Orders.NotPaid")
    assert str(one.origin.citation) == "dcf://session/s1/task/bad-1"
    (seen, *_) = await memory.observations.occurrences(one.id)
    assert CUSTOMER in seen.note and "Orders.NotPaid" in seen.note, "people read it"
    told = await memory.contexts.of_work("/shop", one.workflow, ContextSetting())
    assert title in told.text, "the next task of this type in this project is told"
    for project, workflow in (("/other", one.workflow), ("/shop", "another task")):
        assert not (await memory.contexts.of_work(project, workflow, ContextSetting())).items


async def test_a_task_that_was_taken_from_somebody_says_who_did_it(
    redis_url: str, memory: Memory
) -> None:
    began = asyncio.Event()

    async def only_b(task: Task) -> Outcome:
        if task.lease.owner.endswith(A):
            began.set()
            await asyncio.sleep(60)
        return Succeeded(CUSTOMER, CUSTOMER)

    async with hosts_on(redis_url) as hosts:
        await session_on(hosts)
        await hosts.employ("s1", "b", specialization="refunds")
        hosts.host(Doing(only_b))
        await hosts.sessions.delegate("s1", order("t", companion_id=A))
        await asyncio.wait_for(began.wait(), 20)
        await hosts.sessions.redelegate("s1", "t", B, by=ME, reason=f"{CUSTOMER} waits")
        assert (await hosts.closed("s1", "t")).companion_id == B
        observer = observer_of(hosts, memory)
        await settled(hosts, observer, "t")
        assert await observer.sweep() == 1
    one = (await rows(memory))["refund: refunds did it at last"]
    assert (one.type, one.facts) == ("bugfix", ("It was taken from billing.",))
    (seen,) = await memory.observations.occurrences(one.id)
    assert f"{CUSTOMER} waits" in seen.note


async def test_observers_that_are_cut_off_anywhere_leave_each_task_observed_once(
    redis_url: str, memory: Memory
) -> None:
    names = [f"bad-{number}" for number in range(8)]
    rng = random.Random(28)
    async with hosts_on(redis_url) as hosts:
        # A session for each: one source counts once.
        for name in names:
            await session_on(hosts, f"s-{name}")
        hosts.host(Doing(fails_if_bad))
        for name in names:
            await hosts.sessions.delegate(f"s-{name}", order(name))
        for name in names:
            await hosts.closed(f"s-{name}", name)

        async def cut_off() -> None:
            observer = observer_of(hosts, memory)
            for name in rng.sample(names, 4):
                observer.end(name)
            task = asyncio.create_task(observer.run())
            for _ in range(rng.randrange(80)):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

        await settled(hosts, observer_of(hosts, memory), *names)
        for _ in range(8):
            await asyncio.gather(cut_off(), cut_off())
        await observer_of(hosts, memory).sweep()
    (one,) = (await rows(memory)).values()
    assert one.times == len(names)


async def settled(hosts: Hosts, observer: DelegationObserver, *task_ids: str) -> None:
    """Until the runs of the tasks are sealed, a moment after the tasks are over."""
    async with asyncio.timeout(20):
        for task_id in task_ids:
            while not await observer.is_settled(await hosts.sessions.store.run(task_id)):
                await asyncio.sleep(0.02)


async def test_a_session_that_is_over_says_what_nobody_ever_did(
    redis_url: str, memory: Memory
) -> None:
    async with hosts_on(redis_url) as hosts:
        sessions = hosts.sessions
        for name in ("s1", "s2"):
            await session_on(hosts, name)
            # No host serves anybody: it waits until its time is over.
            await sessions.delegate(name, order(f"never-{name}", timeout_s=0.01))
            async with asyncio.timeout(20):
                while (await sessions.tick(name)).open_tasks:
                    await asyncio.sleep(0.02)
        ended = EndedSessions(sessions, memory, "/shop")
        assert await ended.sweep() == 0, "they go on"
        for name in ("s1", "s2"):
            await sessions.end(name, by=ME)
            assert (await sessions.tick(name)).is_over
        sweeps = [EndedSessions(sessions, memory, "/shop").sweep() for _ in range(4)]
        assert sum(await asyncio.gather(*sweeps)) == 2, "each is kept once"
        assert await ended.sweep() == 0
    (one,) = (await rows(memory)).values()
    assert one.title == "refund: no companion ever had it (deadline_passed)"
    assert one.times == 2
    told = await memory.contexts.of_work("/shop", "task:refund", ContextSetting())
    assert one.title in told.text, "the next task of this type is told"
