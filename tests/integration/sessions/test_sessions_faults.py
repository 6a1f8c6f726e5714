"""Faults around sessions whose hosts are processes: they are killed while the session ends, and
messages are lost, doubled and late."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from integration.sessions.hosts import ME, Hosts, hosts_on
from integration.sessions.mortals import BEGUN, EFFECTS, Mortals, go, mortals_on

from control_plane import claims, keys
from control_plane.embedded import Address
from dcf.cli.session.explaining import explain_in_sessions
from dcf.cli.settings import Settings
from dcf.mcp.task_story import explained
from dcf.sessions import NotOpen, Order, inbox_of, seat_of

A, B = "companion-a", "companion-b"


@asynccontextmanager
async def stage(redis_url: str) -> AsyncIterator[tuple[Hosts, Mortals]]:
    """Session s1 with two companions."""
    async with hosts_on(redis_url) as hosts, mortals_on(redis_url) as mortals:
        async with asyncio.timeout(60):
            await hosts.sessions.create("s1", ME, "help")
            await hosts.employ("s1", "a", "b")
            yield hosts, mortals


async def begun(hosts: Hosts) -> list[tuple[str, str, str]]:
    """(companion, task, host) of each beginning."""
    found = await hosts.sessions.backend.command("LRANGE", BEGUN, 0, -1)
    lines = [line.removeprefix("s1.").split() for line in found]
    return [(companion, task, host) for companion, task, host in lines]


async def begun_by(hosts: Hosts, count: int) -> list[tuple[str, str, str]]:
    """The beginnings, when there are so many."""
    while len(found := await begun(hosts)) < count:
        await asyncio.sleep(0.02)
    return found


async def effects(hosts: Hosts) -> Counter[str]:
    return Counter(await hosts.sessions.backend.command("LRANGE", EFFECTS, 0, -1))


async def let_go(hosts: Hosts, *task_ids: str) -> None:
    for task_id in task_ids:
        await hosts.sessions.backend.command("SET", go(task_id), "ok")


async def delegate(hosts: Hosts, *task_ids: str, **fields: Any) -> None:
    for task_id in task_ids:
        await hosts.sessions.delegate("s1", Order("do it", ME, task_id=task_id, **fields))


async def end_seats(hosts: Hosts, *companion_ids: str) -> None:
    """The seats of those whose host was killed end now rather than in 15 s."""
    for one in companion_ids:
        await claims.put(hosts.sessions.backend, keys.COMPANIONS, seat_of("s1", one), 1)


async def explanation(hosts: Hosts) -> dict[str, Any]:
    """What ``dcf explain`` says of the session."""
    address = Address(hosts.url, "configured")
    found = await explain_in_sessions(hosts.sessions.store, "s1", Settings.from_env({}), address)
    assert found is not None
    return dict(found.fields)


async def summary(hosts: Hosts, task_id: str) -> str:
    return str((await explained(hosts.sessions, "s1", task_id))["summary"])


async def test_a_session_that_ends_waits_for_its_tasks_though_their_host_is_killed(
    redis_url: str,
) -> None:
    async with stage(redis_url) as (hosts, mortals):
        first = await mortals.host("h1")
        await hosts.seated("s1", 2)
        await delegate(hosts, "t1", "t2", "t3")
        assert {task for _, task, _ in await begun_by(hosts, 2)} == {"t1", "t2"}
        ending = await hosts.sessions.end("s1", by=ME)
        assert (ending.state, len(ending.open_tasks)) == ("completing", 3)
        with pytest.raises(NotOpen, match="completing"):
            await delegate(hosts, "t4")
        await mortals.kill(first)
        assert "has it since" in await summary(hosts, "t1")
        assert "no companion is free" in await summary(hosts, "t3")
        assert (await hosts.sessions.end("s1", by=ME)).state == "completing"
        told = await explanation(hosts)
        assert "completing" in told["summary"] and "3 open" in told["summary"]
        await end_seats(hosts, A, B)
        told = await explanation(hosts)
        assert "serves companions" in " ".join(told["hints"])
        await let_go(hosts, "t1", "t2", "t3")
        await mortals.host("h2")
        tasks = [await hosts.closed("s1", name, longest_s=30) for name in ("t1", "t2", "t3")]
        session = await hosts.sessions.tick("s1")
        assert [task.status for task in tasks] == ["succeeded"] * 3
        assert session.state == "completed" and session.head.counts.succeeded == 3
        assert set(session.former) == {A, B} and not session.companions
        assert set((await effects(hosts)).values()) == {1} and len(await effects(hosts)) == 3
        hosts_of = Counter(host for _, task, host in await begun(hosts) if task in ("t1", "t2"))
        assert hosts_of == {"h1": 2, "h2": 2}
        assert f"succeeded, by {tasks[0].companion_id}" in await summary(hosts, "t1")


async def test_a_session_that_ends_with_a_cancel_leaves_nothing_to_a_host_that_comes_later(
    redis_url: str,
) -> None:
    async with stage(redis_url) as (hosts, mortals):
        first = await mortals.host("h1")
        await hosts.seated("s1", 2)
        await delegate(hosts, "t1", "t2", "t3")
        await begun_by(hosts, 2)
        await mortals.kill(first)
        ended = await hosts.sessions.end("s1", by=ME, cancel=True, reason="the user has gone")
        assert ended.state == "completed" and not ended.open_tasks
        tasks = await hosts.sessions.tasks("s1")
        assert {task.status for task in tasks} == {"cancelled"}
        assert "completed: the user has gone" in (await explanation(hosts))["summary"]
        for task in tasks:
            assert "the user has gone" in await summary(hosts, task.task_id)
        await let_go(hosts, "t1", "t2", "t3")
        # Who comes then does what there is elsewhere, and nothing of this.
        await mortals.host("h2")
        await hosts.sessions.create("s2", ME, "help")
        await hosts.employ("s2", "c")
        await hosts.sessions.delegate("s2", Order("do it", ME, task_id="t4"))
        await let_go(hosts, "t4")
        await hosts.closed("s2", "t4")
        assert [task for _, task, host in await begun(hosts) if host == "h2"] == ["t4"]
        assert list(await effects(hosts)) == ["t4/task/1/1"]


async def test_a_task_that_is_cancelled_in_work_is_given_up_and_its_companion_goes_on(
    redis_url: str,
) -> None:
    async with stage(redis_url) as (hosts, mortals):
        await mortals.host("h1")
        await hosts.seated("s1", 2)
        await delegate(hosts, "t1", companion_id=A)
        await begun_by(hosts, 1)
        cancelled = await hosts.sessions.cancel("s1", "t1", by=ME, reason="it is too late")
        assert cancelled.status == "cancelled"
        await delegate(hosts, "t2", companion_id=A)
        await let_go(hosts, "t2")
        assert (await hosts.closed("s1", "t2")).status == "succeeded"
        assert "it is too late" in await summary(hosts, "t1")
        assert list(await effects(hosts)) == ["t2/task/1/1"]


async def test_messages_lost_doubled_and_late_do_each_task_once(redis_url: str) -> None:
    async with stage(redis_url) as (hosts, mortals):
        host = await mortals.host("h1")
        names = {f"m{seed}": [f"m{seed}-{number}" for number in range(8)] for seed in range(4)}
        for id_ in names:
            await hosts.sessions.create(id_, ME, "help")
            await hosts.employ(id_, f"{id_}-a", f"{id_}-b")
        for id_ in names:
            await hosts.seated(id_, 2)
        # What is sent now stays in the inboxes until somebody meddles with them.
        os.kill(host, signal.SIGSTOP)
        for id_, task_ids in names.items():
            for task_id in task_ids:
                await let_go(hosts, task_id)
                await hosts.sessions.delegate(id_, Order("do it", ME, task_id=task_id))
        late = [one for id_ in names for one in await taken(hosts, inboxes_of(id_)[0])]
        assert len(late) == 4
        [(_, lost)] = await taken(hosts, inboxes_of("m0")[1])
        os.kill(host, signal.SIGCONT)
        await asyncio.gather(
            *(
                meddle(hosts, id_, [one for one in task_ids if one not in lost], late)
                for id_, task_ids in names.items()
            )
        )
        every = [task_id for task_ids in names.values() for task_id in task_ids]
        assert Counter(task_id for _, task_id, _ in await begun(hosts)) == Counter(every)
        assert await effects(hosts) == Counter(f"{task_id}/task/1/1" for task_id in every)


def inboxes_of(session_id: str) -> list[str]:
    return [keys.queue(inbox_of(session_id, f"companion-{session_id}-{name}")) for name in "ab"]


async def taken(hosts: Hosts, inbox: str) -> list[tuple[str, list[str]]]:
    """What is in an inbox, which goes with all that is in it."""
    there = await hosts.sessions.backend.command("XRANGE", inbox, "-", "+")
    await hosts.sessions.backend.command("DEL", inbox)
    return [(inbox, fields) for _, fields in there]


async def meddle(
    hosts: Hosts, session_id: str, names: list[str], late: list[tuple[str, list[str]]]
) -> None:
    """Until all is done: what is ``late`` comes some time, inboxes go, and hints of tasks called
    ``names`` come to anybody."""
    rng = random.Random(session_id)
    store, command = hosts.sessions.store, hosts.sessions.backend.command
    pools = [inbox_of(session_id, f"companion-{session_id}-{name}") for name in "ab"]
    empties = 3
    while (await hosts.sessions.get(session_id)).open_tasks:
        match rng.choice(("empty", "late", "doubled", "doubled")):
            case "empty" if empties:
                empties -= 1
                late += await taken(hosts, rng.choice(inboxes_of(session_id)))
            case "late" if late:
                inbox, fields = late.pop(rng.randrange(len(late)))
                await command("XADD", inbox, "*", *fields)
            case "doubled":
                await store.send_hints(rng.choice(names), ["task"], rng.choice(pools))
        await asyncio.sleep(0.02)
    tasks = await hosts.sessions.tasks(session_id)
    assert {task.status for task in tasks} == {"succeeded"}
    assert {len(task.attempts) for task in tasks} == {1}


async def test_a_late_message_to_who_had_the_task_before_begins_nothing(redis_url: str) -> None:
    async with stage(redis_url) as (hosts, mortals):
        await mortals.host("h1")
        await hosts.seated("s1", 2)
        await delegate(hosts, "t1", companion_id=A)
        await begun_by(hosts, 1)
        await hosts.sessions.redelegate("s1", "t1", B, by=ME, reason="it takes too long")
        # As it was for A, once more.
        await hosts.sessions.store.send_hints("t1", ["task"], inbox_of("s1", A))
        assert (await begun_by(hosts, 2))[1][:2] == (B, "t1")
        await let_go(hosts, "t1")
        task = await hosts.closed("s1", "t1")
        assert (task.status, task.companion_id) == ("succeeded", B)
        await delegate(hosts, "t2", companion_id=A)
        await let_go(hosts, "t2")
        await hosts.closed("s1", "t2")
        assert [one[:2] for one in await begun(hosts)] == [(A, "t1"), (B, "t1"), (A, "t2")]
        assert set(await effects(hosts)) == {"t1/task/1/1", "t2/task/1/1"}
        story = await explained(hosts.sessions, "s1", "t1")
        assert story["attempts"][0]["why"] == "it takes too long"
