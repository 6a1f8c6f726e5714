"""Sessions on a control plane: whoever dies between any two calls, each task is done once, and the
session says how it ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from campaigns import campaign
from desks import ID, ME, Desk
from interleaved import Breaking
from worlds import World, open_world

from control_plane import (
    Committed,
    Disconnected,
    Lease,
    Refusal,
    SessionExists,
    UnknownRun,
    UnknownSession,
    claims,
    history,
    keys,
    timers,
)
from dcf.agents import RESULT_STATUS
from dcf.sessions import (
    GRACE_MS,
    LOSSES_LIMIT,
    SEAT_MS,
    Broadcast,
    ContextChange,
    Order,
    Sessions,
    SessionTask,
    TaskOver,
    UnknownTask,
    seat_of,
    settle,
)
from dcf.workflow import Failed, InvalidWorkflow, Succeeded

SHARES = 3


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


async def test_a_task_is_delegated_done_and_settled_and_the_next_one_follows(desk: Desk) -> None:
    await desk.begin("a")
    first = await desk.delegate(input={"order": 7}, task_type="lookup")
    second = await desk.delegate()
    assert (first.status, first.companion_id) == ("assigned", "companion-a")
    assert second.status == "queued"
    run = await desk.sessions.store.run(first.task_id)
    assert (run.status, run.pool, run.start_at) == ("running", f"inbox.{ID}.companion-a", "lookup")
    lease = await desk.lease(first)
    assert isinstance(lease, Lease)
    assert lease.input == {"order": 7}
    await desk.finish(lease)
    await settle(desk.sessions, ID, first.task_id)
    session = await desk.sessions.get(ID)
    done, next_ = session.tasks[first.task_id], session.tasks[second.task_id]
    assert (done.status, done.summary, done.error) == ("succeeded", "did it", None)
    assert (next_.status, next_.companion_id) == ("assigned", "companion-a")
    assert isinstance(await desk.lease(next_), Lease)
    assert session.companions["companion-a"].succeeded == 1


async def test_results_are_structured(desk: Desk) -> None:
    await desk.begin("a")
    partial = Succeeded({"left": 2}, "half of it", metrics={RESULT_STATUS: "partial"})
    done = await desk.do(await desk.delegate(), partial)
    assert (done.status, done.summary) == ("partial", "half of it")
    done = await desk.do(await desk.delegate(), Failed("no_access", "the door is locked"))
    assert (done.status, done.error) == (
        "failed", {"code": "no_access", "message": "the door is locked"}
    )  # fmt: skip
    counts = (await desk.sessions.get(ID)).head.counts
    assert (counts.partial, counts.failed, counts.closed) == (1, 1, 2)


async def test_a_session_that_is_not_there_and_one_that_is(desk: Desk) -> None:
    with pytest.raises(UnknownSession, match="no session s1"):
        await desk.delegate()
    await desk.begin()
    with pytest.raises(SessionExists):
        await desk.begin()
    with pytest.raises(UnknownTask):
        await desk.sessions.cancel(ID, "task-1", by=ME)
    with pytest.raises(UnknownTask):
        await desk.sessions.task(ID, "task-1")


async def test_two_conductors_at_one_companion_at_once(desk: Desk) -> None:
    await desk.begin("a")
    await desk.sessions.join(ID, "conductor-2")
    other = Desk(desk.world)
    tasks = await asyncio.gather(
        desk.delegate(companion_id="companion-a"),
        other.delegate(companion_id="companion-a", by="conductor-2"),
    )
    assert sorted(task.status for task in tasks) == ["assigned", "queued"]
    [assigned] = [task for task in tasks if task.status == "assigned"]
    [queued] = [task for task in tasks if task.status == "queued"]
    await desk.do(assigned)
    now = await desk.sessions.task(ID, queued.task_id)
    assert (now.status, now.companion_id) == ("assigned", "companion-a")


async def test_a_lost_companion_s_task_goes_on_in_its_run_and_it_is_refused(desk: Desk) -> None:
    await desk.begin("a", "b")
    task = await desk.delegate()
    lease = await desk.lease(task)
    assert isinstance(lease, Lease)
    await desk.world.advance(SEAT_MS + GRACE_MS + 1)
    await desk.sit("companion-b")
    session = await desk.sessions.tick(ID)
    moved = session.tasks[task.task_id]
    assert (moved.status, moved.companion_id) == ("assigned", "companion-b")
    assert session.companions["companion-a"].status == "lost"
    assert await desk.finish(lease) == Refusal("lease_lost")
    again = await desk.lease(moved)
    assert isinstance(again, Lease)
    assert again.idempotency_key == lease.idempotency_key
    assert isinstance(await desk.finish(again), Committed)
    await desk.sessions.tick(ID)
    ended = await desk.sessions.task(ID, task.task_id)
    assert (ended.status, ended.companion_id) == ("succeeded", "companion-b")
    assert [one.companion_id for one in ended.attempts] == ["companion-a", "companion-b"]
    moves = [
        entry.event
        async for entry in history.read(desk.sessions.store, task.task_id)
        if entry.event["type"] == "RunMoved"
    ]
    assert len(moves) == 1


async def test_a_companion_that_comes_back_gets_tasks_again(desk: Desk) -> None:
    await desk.begin("a")
    await desk.world.advance(SEAT_MS + GRACE_MS + 1)
    session = await desk.sessions.tick(ID)
    assert session.companions["companion-a"].status == "lost"
    task = await desk.delegate()
    assert task.status == "queued"
    await desk.sit("companion-a")
    task = await desk.sessions.task(ID, task.task_id)
    assert (task.status, task.companion_id) == ("assigned", "companion-a")


async def test_a_task_nobody_can_do_fails_at_its_deadline_with_the_reason(desk: Desk) -> None:
    await desk.begin("a")
    busy = await desk.delegate(timeout_s=600)
    task = await desk.delegate(timeout_s=60)
    await desk.world.advance(61_000)
    await desk.sit("companion-a")
    session = await desk.sessions.tick(ID)
    ended = session.tasks[task.task_id]
    assert ended.status == "failed"
    assert ended.error is not None
    assert ended.error["code"] == "deadline_passed"
    assert "no companion is free for it (companion-a busy)" in ended.error["message"]
    assert session.tasks[busy.task_id].is_open
    with pytest.raises(UnknownRun):
        await desk.sessions.store.run(task.task_id)


async def test_a_report_after_the_deadline_is_refused(desk: Desk) -> None:
    await desk.begin("a")
    task = await desk.delegate(timeout_s=60)
    lease = await desk.lease(task)
    assert isinstance(lease, Lease)
    await desk.world.advance(61_000)
    await timers.tick(desk.sessions.store, task.task_id)
    await desk.sit("companion-a")
    session = await desk.sessions.tick(ID)
    ended = session.tasks[task.task_id]
    assert (ended.status, ended.error and ended.error["code"]) == ("failed", "deadline_passed")
    assert isinstance(await desk.finish(lease), Refusal)
    assert (await desk.sessions.tick(ID)).tasks[task.task_id] == replace(ended, told=True)


async def test_a_task_is_cancelled_wherever_it_is(desk: Desk) -> None:
    await desk.begin("a")
    running, waiting = await desk.delegate(), await desk.delegate()
    lease = await desk.lease(running)
    assert isinstance(lease, Lease)
    for task in (waiting, running):
        ended = await desk.sessions.cancel(ID, task.task_id, by=ME, reason="no longer needed")
        assert ended.status == "cancelled"
        assert "no longer needed" in (ended.error or {})["message"]
        with pytest.raises(TaskOver):
            await desk.sessions.cancel(ID, task.task_id, by=ME)
    assert isinstance(await desk.finish(lease), Refusal)
    session = await desk.sessions.get(ID)
    assert session.companions["companion-a"].status == "idle"
    assert session.head.counts.cancelled == 2


async def test_whoever_is_slow_to_begin_a_cancelled_task_begins_nothing(desk: Desk) -> None:
    """The conductor died, or sleeps, between assigning a task and making its run."""
    await desk.begin("a")
    breaking = Breaking(desk.world.backend, None)
    asleep = Sessions(desk.world.store(breaking))
    task = await assigned_without_run(desk, asleep, breaking)
    ended = await desk.sessions.cancel(ID, task.task_id, by=ME)
    assert ended.status == "cancelled"
    await desk.sessions.start(ID, task)
    assert (await desk.sessions.store.run(task.task_id)).status == "cancelled"


async def assigned_without_run(desk: Desk, asleep: Sessions, breaking: Breaking) -> SessionTask:
    """A task whose assigner died just after it was written."""
    order = Order("Do it.", ME, task_id="task-1")

    async def never(*_: Any) -> None:
        raise Disconnected

    asleep.start = never  # type: ignore[method-assign]
    with pytest.raises(Disconnected):
        await asleep.delegate(ID, order)
    return await desk.sessions.task(ID, "task-1")


async def test_a_task_given_to_another_by_hand_goes_on_there(desk: Desk) -> None:
    await desk.begin("a", "b")
    task = await desk.delegate()
    lease = await desk.lease(task)
    assert isinstance(lease, Lease)
    moved = await desk.sessions.redelegate(ID, task.task_id, "companion-b", by=ME)
    assert (moved.status, moved.companion_id) == ("assigned", "companion-b")
    assert isinstance(await desk.finish(lease), Refusal)
    assert (await desk.do(moved)).status == "succeeded"
    with pytest.raises(TaskOver):
        await desk.sessions.redelegate(ID, task.task_id, "companion-a", by=ME)


async def test_a_late_start_does_not_take_a_task_back(desk: Desk) -> None:
    """Somebody saw the task at ``a``, slept, and goes on after it was given to ``b``."""
    await desk.begin("a", "b")
    seen = await desk.delegate()
    moved = await desk.sessions.redelegate(ID, seen.task_id, "companion-b", by=ME)
    await desk.sessions.start(ID, seen)
    assert (await desk.sessions.store.run(seen.task_id)).pool == f"inbox.{ID}.companion-b"
    assert isinstance(await desk.lease(moved), Lease)


async def test_a_broadcast_ends_with_its_quorum(desk: Desk) -> None:
    await desk.begin("a", "b", "c")
    order = Order("Vote.", ME)
    group = await desk.sessions.broadcast(ID, Broadcast(order, "quorum", most=3))
    session = await desk.sessions.get(ID)
    children = [session.tasks[one] for one in group.children]
    assert {task.companion_id for task in children} == {f"companion-{name}" for name in "abc"}
    for task in children[:2]:
        await desk.do(task)
    session = await desk.sessions.tick(ID)
    assert session.tasks[group.task_id].status == "succeeded"
    assert session.tasks[group.children[2]].status == "cancelled"
    assert {one.status for one in session.companions.values()} == {"idle"}


async def test_a_finalize_waits_for_what_runs_or_cancels_it(desk: Desk) -> None:
    await desk.begin("a")
    task = await desk.delegate()
    session = await desk.sessions.end(ID, by=ME)
    assert session.state == "completing"
    done = await desk.do(task)
    assert done.status == "succeeded"
    assert (await desk.sessions.get(ID)).state == "completed"
    assert [event["type"] for event in await desk.events("SessionCompleted")] == [
        "SessionCompleted"
    ]


async def test_a_finalize_has_what_waits_done_though_a_companion_dies(desk: Desk) -> None:
    await desk.begin("a", "b")
    running = await desk.delegate(companion_id="companion-a")
    waiting = await desk.delegate(companion_id="companion-b")
    after = await desk.delegate(after=(waiting.task_id,))
    assert (await desk.sessions.end(ID, by=ME)).state == "completing"
    await desk.do(waiting)
    after = await desk.sessions.task(ID, after.task_id)
    assert after.companion_id == "companion-b"
    await desk.do(after)
    # Nobody serves its companion any more: the other one goes on with it.
    await claims.put(desk.world.backend, keys.COMPANIONS, seat_of(ID, "companion-a"), 1)
    session = await desk.sessions.tick(ID)
    assert session.state == "completing"
    task = session.tasks[running.task_id]
    assert (task.status, task.companion_id) == ("assigned", "companion-b")
    assert (await desk.do(task)).status == "succeeded"
    assert (await desk.sessions.get(ID)).state == "completed"


async def test_a_finalize_that_cancels(desk: Desk) -> None:
    await desk.begin("a")
    running, waiting = await desk.delegate(), await desk.delegate()
    lease = await desk.lease(running)
    assert isinstance(lease, Lease)
    session = await desk.sessions.end(ID, by=ME, cancel=True, reason="enough")
    assert session.state == "completed"
    assert {session.tasks[one.task_id].status for one in (running, waiting)} == {"cancelled"}
    assert isinstance(await desk.finish(lease), Refusal)
    assert (session.companions, set(session.former)) == ({}, {"companion-a"})
    _, due = await claims.ends(desk.world.backend, keys.SESSIONS_DUE, [ID])
    assert due == {ID: desk.world.now_ms + 1_000}, "the graph is not told yet"
    assert (await desk.sessions.end(ID, by=ME)).head.ended_at == session.head.ended_at
    assert (await claims.ends(desk.world.backend, keys.SESSIONS_DUE, [ID]))[1] == {}


async def test_workflows_are_tasks_for_workers(desk: Desk) -> None:
    await desk.begin()
    pass_through = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    task = await desk.delegate(workflow=pass_through, input={"a": 1}, task_type="flow")
    assert (task.status, task.companion_id) == ("assigned", None)
    assert (await desk.sessions.store.run(task.task_id)).pool == "default"
    await desk.external.nudge(task.task_id, owner="worker")
    session = await desk.sessions.tick(ID)
    assert session.tasks[task.task_id].status == "succeeded"


async def test_a_task_whose_companions_die_again_and_again_fails(desk: Desk) -> None:
    await desk.begin("a")
    task = await desk.delegate(timeout_s=3_600)
    lease = await desk.lease(task)
    for _ in range(LOSSES_LIMIT + 1):
        assert (await desk.sessions.task(ID, task.task_id)).status == "assigned"
        await desk.world.advance(SEAT_MS + GRACE_MS + 1)
        await desk.sessions.tick(ID)
        await desk.sit("companion-a")
    session = await desk.sessions.tick(ID)
    ended = session.tasks[task.task_id]
    assert (ended.status, ended.error and ended.error["code"]) == ("failed", "companions_lost")
    assert (await desk.sessions.store.run(task.task_id)).status == "cancelled"
    assert isinstance(lease, Lease)
    assert isinstance(await desk.finish(lease), Refusal)


async def test_fifty_writers_of_one_context_lose_nothing(desk: Desk) -> None:
    await desk.begin()
    writers = [Sessions(desk.world.store()) for _ in range(50)]

    async def write(number: int) -> None:
        for step in range(4):
            change = ContextChange(shared_data={f"w{number}": step, f"w{number}s{step}": True})
            await writers[number].change_context(ID, change, by=f"agent-{number}")

    await asyncio.gather(*(write(number) for number in range(50)))
    data = (await desk.sessions.get(ID)).context.shared_data
    assert data == {f"w{n}": 3 for n in range(50)} | {
        f"w{n}s{step}": True for n in range(50) for step in range(4)
    }
    assert len(await desk.events("ContextUpdated")) == 200


@campaign(SHARES)
async def test_whoever_dies_after_any_call_the_session_ends_the_same(share: int) -> None:
    """On the twin alone, which passes the contract: each call is once the last."""
    fatal = 1 + share
    while True:
        world = await open_world(None)
        desk = Desk(world)
        await desk.begin("a", "b")
        breaking = Breaking(world.backend, fatal, "after")
        mortal = Desk(world, Sessions(world.store(breaking)))
        await _until_dead(mortal)
        survived = not breaking.broken
        await _finish_all(desk)
        session = await desk.sessions.get(ID)
        assert session.state == "completed"
        by_id = {task.task_id: task for task in await desk.sessions.tasks(ID)}
        assert {task.status for task in by_id.values()} == {"succeeded"}
        assert session.head.counts.delegated == session.head.counts.succeeded == len(by_id)
        for task in by_id.values():
            told = [
                entry.event["type"]
                async for entry in history.read(desk.sessions.store, task.task_id)
            ]
            assert (told.count("RunStarted"), told.count("RunEnded")) == (1, 1), told
        settled = await desk.events("TaskSettled")
        assert len(settled) == len(by_id), "each is settled once"
        if survived:
            break
        fatal += SHARES
    assert fatal > 20


async def _until_dead(desk: Desk) -> None:
    """Delegate, do, settle, end: till the backend breaks."""
    try:
        first = await desk.delegate(task_id="task-1")
        await desk.delegate(task_id="task-2", after=("task-1",))
        if first.companion_id is not None:
            await desk.do(first)
        await desk.sessions.tick(ID)
    except Disconnected:
        return


async def _finish_all(desk: Desk) -> None:
    """Another process: the conductor says it all again, and hands do what is to be done."""
    for task_id, after in (("task-1", ()), ("task-2", ("task-1",))):
        await desk.delegate(task_id=task_id, after=after)
    for _ in range(60):
        session = await desk.sessions.tick(ID)
        if not session.open_tasks:
            break
        for task in session.open_tasks:
            if task.companion_id is not None:
                lease = await desk.lease(task)
                if isinstance(lease, Lease):
                    await desk.finish(lease)
        await desk.world.advance(1_000)
        await desk.sit("companion-a", "companion-b")
        for task in session.open_tasks:
            await timers.tick(desk.sessions.store, task.task_id)
    await desk.sessions.end(ID, by=ME)


async def test_a_workflow_that_cannot_run_is_refused_before_it_is_a_task(desk: Desk) -> None:
    await desk.begin()
    with pytest.raises(InvalidWorkflow):
        await desk.delegate(workflow={"StartAt": "Nowhere", "States": {}})
    for broken in ({"asl": None}, {}, {"asl": {"StartAt": 1}}):
        with pytest.raises(InvalidWorkflow):
            await desk.delegate(workflow=broken)
    assert (await desk.sessions.get(ID)).tasks == {}
