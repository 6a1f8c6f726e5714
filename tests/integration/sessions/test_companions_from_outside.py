"""Companions that MCP clients serve: the same task under the same lease, reported once."""

from __future__ import annotations

import asyncio

import pytest
from integration.sessions.hosts import ME, Hosts, hosts_on

from control_plane import AgentStore, claims, keys, read_record_history
from dcf.sessions import Order, agent_of
from dcf.sessions.companions import (
    Received,
    ReportedOtherwise,
    ServedByProcess,
    TaskNotYours,
    cleanup_orphaned_companions,
    outside_tags,
    receive,
    report_progress,
    report_result,
)

A, B = "companion-a", "companion-b"


async def with_task(hosts: Hosts, *names: str) -> Received:
    """A session in which external companions are served, and the first one has a task."""
    await hosts.sessions.create("s1", ME, "help")
    await hosts.employ("s1", *names, external=True)
    for name in names:
        assert await receive(hosts.sessions, "s1", f"companion-{name}") is None
    await hosts.sessions.delegate("s1", Order("do it", ME, task_id="t", input={"order": 7}))
    received = await receive(hosts.sessions, "s1", A, wait_s=2)
    assert received is not None
    return received


async def test_who_asks_again_has_the_same_lease_and_reports_once(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        first = await with_task(hosts, "a")
        again = await receive(hosts.sessions, "s1", A)
        assert again == first
        document = first.to_json()
        assert document["task"]["input"] == {"order": 7}
        assert (document["from_conductor"], document["task_id"]) == (ME, "t")
        token = first.lease_token
        await report_progress(hosts.sessions, "s1", A, "t", token, progress_pct=50)
        said = {"status": "partial", "summary": "half of it", "output_data": [1]}
        ended = await report_result(hosts.sessions, "s1", A, "t", token, **said)
        assert (ended.status, ended.summary) == ("partial", "half of it")
        assert await report_result(hosts.sessions, "s1", A, "t", token, **said) == ended
        with pytest.raises(ReportedOtherwise):
            await report_result(
                hosts.sessions, "s1", A, "t", token, status="failed", summary="none of it"
            )


async def test_progress_renews_the_lease_each_time_and_is_told_once_a_second(
    redis_url: str,
) -> None:
    async with hosts_on(redis_url) as hosts:
        token = (await with_task(hosts, "a")).lease_token
        for number in range(5):
            left = await report_progress(hosts.sessions, "s1", A, "t", token, progress_pct=number)
            assert left > 0
        told = [one.event async for one in read_record_history(hosts.sessions.records, "s1")]
        said = [one["progress_pct"] for one in told if one["type"] == "TaskProgress"]
        assert said[0] == 0 and len(said) < 5


async def test_a_task_that_went_to_another_is_not_reported_by_the_first(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        first = await with_task(hosts, "a", "b")
        await hosts.sessions.redelegate("s1", "t", B, by=ME)
        second = await receive(hosts.sessions, "s1", B, wait_s=2)
        assert second is not None and second.lease_token != first.lease_token
        with pytest.raises(TaskNotYours, match="companion-b has it now"):
            await report_result(
                hosts.sessions, "s1", A, "t", first.lease_token, status="succeeded", summary="mine"
            )
        ended = await report_result(
            hosts.sessions, "s1", B, "t", second.lease_token, status="succeeded", summary="ours"
        )
        assert (ended.summary, ended.companion_id) == ("ours", B)


async def test_a_report_after_the_deadline_is_refused(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a", external=True)
        await receive(hosts.sessions, "s1", A)
        for seconds in (3, 15, 75):  # a busy machine hands a task over later
            given = Order("do it", ME, task_id=(t := f"t{seconds}"), timeout_s=seconds)
            await hosts.sessions.delegate("s1", given)
            if received := await receive(hosts.sessions, "s1", A, wait_s=seconds):
                break
        assert received is not None
        deadline = (await hosts.sessions.task("s1", t)).deadline_at
        while await hosts.sessions.store.now_ms() <= deadline:
            await asyncio.sleep(0.05)
        with pytest.raises(TaskNotYours):
            await report_result(
                hosts.sessions, "s1", A, t, received.lease_token, status="succeeded", summary="x"
            )
        # Its run ends in whole seconds after it was handed over, up to a second later.
        async with asyncio.timeout(20):
            while (task := await hosts.sessions.task("s1", t)).error is None:
                await hosts.sessions.tick("s1")
        assert task.error["code"] == "deadline_passed"


async def test_companions_of_processes_are_not_served_from_outside(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        with pytest.raises(ServedByProcess):
            await receive(hosts.sessions, "s1", A)


async def test_seats_and_inboxes_of_nobody_are_found_and_removed(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await with_task(hosts, "a")
        backend = hosts.sessions.backend
        await claims.put(backend, keys.COMPANIONS, "s1/companion-gone", 1)
        await backend.command("XADD", keys.queue("inbox.s1.companion-gone"), "*", "a", "b")
        found = await cleanup_orphaned_companions(hosts.sessions)
        assert found.seats == ("s1/companion-gone",)
        assert found.inboxes == (keys.queue("inbox.s1.companion-gone"),)
        assert not found.removed
        assert (await cleanup_orphaned_companions(hosts.sessions, dry_run=False)).removed
        left = await cleanup_orphaned_companions(hosts.sessions)
        assert (left.seats, left.inboxes) == ((), ())
        assert await receive(hosts.sessions, "s1", A) is not None


async def test_records_of_companions_that_are_gone_are_found_and_removed(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a", external=True)
        records = AgentStore(hosts.sessions.backend)
        here, gone, over = agent_of("s1", A), agent_of("s1", B), agent_of("s0", A)
        for agent_id, session_id in ((here, "s1"), (gone, "s1"), (over, "s0")):
            await records.create(agent_id, agent_id, tags=outside_tags(session_id))
        # It says of no session that it is in it.
        await records.create("another", "another", tags=["external", "role:companion"])
        found = await cleanup_orphaned_companions(hosts.sessions, records=records)
        assert (set(found.agents), found.removed) == ({gone, over}, False)
        of_s1 = await cleanup_orphaned_companions(
            hosts.sessions, records=records, session_id="s1", dry_run=False
        )
        assert of_s1.agents == (gone,)
        await cleanup_orphaned_companions(hosts.sessions, records=records, dry_run=False)
        left = [agent.agent_id for agent in (await records.page()).agents]
        assert left == [here, "another"]
