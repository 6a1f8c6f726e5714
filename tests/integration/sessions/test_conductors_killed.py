"""Conductors that are processes: killed (SIGKILL) in the middle of a turn, and two at once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from campaigns import campaign
from integration.sessions.hosts import ME, Doing, Hosts, hosts_on
from integration.sessions.mortals import Mortals, mortals_on

from control_plane import read_record_history
from dcf.mcp.task_story import explained
from dcf.sessions import Session
from dcf.sessions.conductor import Conductor, Reply
from dcf.sessions.guidance import Guidance
from dcf.workflow import Failed, Outcome, Succeeded, Task

SEEDS = 6
ASKED = "- open the door\n- light the lamp\n- then write that it is done"
SIGKILL = -9
OTHER = "conductor-2"


async def works(task: Task) -> Outcome:
    """The door does not open at once."""
    number = task.lease.workflow_id.removesuffix("-r1").rpartition("-")[2]
    if number == "01" and not task.lease.workflow_id.endswith("-r1"):
        return Failed("stuck", "the door is stuck")
    return Succeeded({"did": task.lease.workflow_id}, f"did {number}")


@asynccontextmanager
async def stage(redis_url: str) -> AsyncIterator[tuple[Hosts, Mortals, Doing]]:
    agents = Doing(works)
    async with hosts_on(redis_url) as hosts, mortals_on(redis_url) as mortals:
        async with asyncio.timeout(90):
            yield hosts, mortals, agents


def conductor_of(hosts: Hosts) -> Conductor:
    return Conductor(hosts.sessions, Guidance(hosts.sessions), ME)


async def begin(hosts: Hosts, session_id: str) -> None:
    await hosts.sessions.create(session_id, ME, "keep house")


async def last_word(hosts: Hosts, session_id: str) -> Reply:
    conductor = conductor_of(hosts)
    while (answer := await conductor.answer(session_id, "q")) is None:
        await conductor.attend(session_id)
        await asyncio.sleep(0.02)
    return answer


async def calls_of(hosts: Hosts) -> int:
    """How many calls the conductor made that was not killed."""
    return int(await hosts.sessions.backend.command("GET", "test:calls"))


def moment(seed: int, calls: int) -> dict[str, Any]:
    rng = random.Random(seed)
    return {"last": rng.randint(1, calls), "before": rng.random() < 0.5}


async def check(hosts: Hosts, session_id: str, reply: Reply, agents: Doing) -> None:
    """All was asked, delegated, done and told once, with one repetition of what failed."""
    session = await hosts.sessions.get(session_id)
    stem = reply.task_ids[0].removesuffix("-01")
    wanted = {f"{stem}-01", f"{stem}-01-r1", f"{stem}-02", f"{stem}-03"}
    tasks = {task.task_id: task for task in await hosts.sessions.tasks(session_id)}
    # What follows the door goes out anew with it, if it did not wait.
    assert wanted <= set(tasks) <= {*wanted, f"{stem}-03-r1"}
    assert session.head.counts.delegated == len(tasks)
    assert len(session.companions) == 1, "companions are made once"
    begun = Counter(task_id for _, task_id in agents.begun if task_id.startswith(stem))
    assert set(begun.values()) == {1}
    events = [one.event async for one in read_record_history(hosts.sessions.records, session_id)]
    named = Counter(
        (event["type"], event["task_id"])
        for event in events
        if event["type"] in ("TaskDelegated", "TaskSettled")
    )
    assert set(named.values()) == {1} and len(named) == 2 * len(tasks)
    said = [event for event in events if event["type"] == "Said"]
    assert [event["role"] for event in said].count("user") == 1
    assert sum("All 3 tasks are done." in str(event["text"]) for event in said) == 1
    story = await explained(hosts.sessions, session_id, f"{stem}-01")
    assert "stuck: the door is stuck" in story["summary"]


@pytest.mark.timeout(120)
@campaign(shares=20)
async def test_a_turn_that_was_killed_is_taken_again_and_does_nothing_twice(
    share: int, redis_url: str
) -> None:
    seeds = range(share * SEEDS, (share + 1) * SEEDS)
    async with stage(redis_url) as (hosts, mortals, agents):
        turn: dict[str, Any] = {"says": [("q", ASKED)]}
        await begin(hosts, "s")
        assert await mortals.conduct({"session": "s", **turn}) == [0]
        calls = await calls_of(hosts)
        for seed in seeds:
            await begin(hosts, f"s{seed}")
            child = {"session": f"s{seed}", **turn, **moment(seed, calls)}
            assert await mortals.conduct(child) == [SIGKILL]
        left = [await hosts.sessions.get(f"s{seed}") for seed in seeds]
        # Some died before anything was delegated and some after; none in between.
        delegated = {len(session.tasks) for session in left}
        assert delegated == {0, 3} or (share and delegated < {0, 3})
        replies = {}
        for session in left:
            id_ = session.session_id
            replies[id_] = await conductor_of(hosts).turn(id_, ASKED, request_id="q")
            again = await conductor_of(hosts).turn(id_, ASKED, request_id="q")
            assert again == replies[id_]
            assert not session.tasks or set(session.tasks) == set(replies[id_].task_ids)
        hosts.host(agents, most=50)
        for id_, reply in replies.items():
            await last_word(hosts, id_)
            await check(hosts, id_, reply, agents)


@pytest.mark.timeout(120)
@campaign(shares=20)
async def test_attending_that_was_killed_is_done_again_and_does_nothing_twice(
    share: int, redis_url: str
) -> None:
    seeds = range(share * SEEDS, (share + 1) * SEEDS)
    async with stage(redis_url) as (hosts, mortals, agents):
        ids = ["s", *(f"s{seed}" for seed in seeds)]
        replies = {}
        for id_ in ids:
            await begin(hosts, id_)
            replies[id_] = await conductor_of(hosts).turn(id_, ASKED, request_id="q")
        hosts.host(agents, most=50)
        for id_ in ids:
            await settled(hosts, id_, 2)
        # Two have ended, of which one goes out again.
        assert await mortals.conduct({"session": "s", "attends": True}) == [0]
        calls = await calls_of(hosts)
        died = []
        for seed in seeds:
            child = {"session": f"s{seed}", "attends": True, **moment(seed, calls)}
            died += await mortals.conduct(child)
        assert share or died.count(SIGKILL) > SEEDS / 2
        assert set(died) <= {SIGKILL, 0}
        for id_ in ids:
            await last_word(hosts, id_)
            await check(hosts, id_, replies[id_], agents)


async def settled(hosts: Hosts, session_id: str, count: int) -> Session:
    """The session when so many of its tasks are over."""
    while True:
        session = await hosts.sessions.get(session_id)
        if session.head.counts.closed >= count:
            return session
        await asyncio.sleep(0.02)


@pytest.mark.timeout(120)
async def test_two_conductors_delegate_to_one_companion_at_the_same_instant(
    redis_url: str,
) -> None:
    now = most = 0

    async def counts(task: Task) -> Outcome:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return Succeeded(task.lease.workflow_id, "done")

    agents = Doing(counts)
    async with stage(redis_url) as (hosts, mortals, _):
        await begin(hosts, "s")
        await hosts.sessions.join("s", OTHER)
        await hosts.employ("s", "a")
        await both(mortals, "x", "y")
        session = await hosts.sessions.get("s")
        # Nobody serves it yet: all wait, and each is told for whom.
        waiting = list(session.tasks)
        assert len(waiting) == 16 and {task.status for task in session.open_tasks} == {"queued"}
        assert {task.by for task in session.open_tasks} == {ME, OTHER}
        story = await explained(hosts.sessions, "s", waiting[-1])
        assert "companion-a" in story["summary"]
        # And while it is at work.
        hosts.host(agents)
        await both(mortals, "v", "w")
        every = [task.task_id for task in await hosts.sessions.tasks("s")]
        assert len(every) == 32
        for task_id in every:
            task = await hosts.closed("s", task_id)
            assert (task.status, task.companion_id) == ("succeeded", "companion-a")
            assert len(task.attempts) == 1
        assert Counter(agents.begun) == {("s.companion-a", task_id): 1 for task_id in every}
        assert most == 1


async def both(mortals: Mortals, one: str, other: str) -> None:
    """Two processes begin at the same moment to ask the companion for eight things each."""
    ours, theirs = (
        [(f"{name}{number}", f"carry {name}{number} @a") for number in range(8)]
        for name in (one, other)
    )
    codes = await mortals.conduct(
        {"session": "s", "says": ours}, {"session": "s", "conductor": OTHER, "says": theirs}
    )
    assert codes == [0, 0]
