"""A task whose id is that of somebody else's run: it fails, and the other's is not touched."""

from __future__ import annotations

from typing import Any

import pytest
from desks import ID, ME, Desk
from test_guidance import records
from worlds import World

from dcf.knowledge import DelegationFact, SessionFact
from dcf.sessions import Broadcast, Order, Session, Sessions, TaskIdTaken

FLOW = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}


class Blind(Sessions):
    """Whose ids were taken just after it had looked."""

    async def check_ids(self, *_: Any) -> None:
        pass


async def with_namesake(world: World, order: Order) -> tuple[Desk, Sessions]:
    """Session s1 has task-1 in work; s2, which delegated another task-1 at the same moment."""
    desk = Desk(world)
    await desk.begin("a")
    await desk.delegate(task_id="task-1")
    other = Blind(world.store())
    await other.create("s2", ME, "something else")
    await other.delegate("s2", order)
    return desk, other


def failed_as_namesake(session: Session) -> bool:
    error = session.tasks["task-1"].error or {}
    return error.get("code") == "task_id_taken" and "session s1" in error["message"]


async def test_an_id_that_is_taken_is_refused_before_there_is_a_task(world: World) -> None:
    desk = Desk(world)
    await desk.begin("a", "b")
    await desk.delegate(task_id="task-1")
    await desk.delegate(task_id="group_2")
    other = Sessions(world.store())
    await other.create("s2", ME, "something else")
    with pytest.raises(TaskIdTaken, match="of session s1"):
        await other.delegate("s2", Order("Two.", ME, task_id="task-1", workflow=FLOW))
    with pytest.raises(TaskIdTaken, match="group_2"):
        await other.broadcast("s2", Broadcast(Order("Vote.", ME, task_id="group"), "all", most=3))
    assert (await other.tick("s2")).tasks == {}


async def test_the_tick_ends_a_namesake_and_all_others(world: World) -> None:
    desk, other = await with_namesake(world, Order("Two.", ME, task_id="task-1", workflow=FLOW))
    late = await other.delegate("s2", Order("Three.", ME, task_id="late", timeout_s=1))
    await world.advance(2_000)
    session = await other.tick("s2")
    assert failed_as_namesake(session)
    error = session.tasks[late.task_id].error
    assert error is not None and error["code"] == "deadline_passed"
    assert (await desk.sessions.tick(ID)).tasks["task-1"].is_open


@pytest.mark.parametrize("ends", ["cancelled", "late", "completed"])
async def test_however_a_namesake_ends_the_other_s_run_goes_on(world: World, ends: str) -> None:
    order = Order("Two.", ME, task_id="task-1", workflow=FLOW, timeout_s=5)
    desk, other = await with_namesake(world, order)
    if ends == "late":
        await world.advance(10_000)
        session = await other.tick("s2")
    elif ends == "cancelled":
        await other.cancel("s2", "task-1", by=ME)
        session = await other.get("s2")
    else:
        session = await other.end("s2", by=ME, cancel=True)
        assert session.state == "completed"
    assert failed_as_namesake(session)
    done = await desk.do(await desk.sessions.task(ID, "task-1"))
    assert done.status == "succeeded"


async def test_a_result_of_the_other_is_credited_to_nobody_here(world: World) -> None:
    desk, other = await with_namesake(world, Order("Two.", ME, task_id="task-1", workflow=FLOW))
    await desk.do(await desk.sessions.task(ID, "task-1"))
    session = await other.tick("s2")
    assert failed_as_namesake(session)
    assert (session.head.counts.succeeded, session.tasks["task-1"].reference) == (0, None)


async def test_the_graph_is_told_of_both_under_two_names(world: World) -> None:
    desk = Desk(world, Sessions(world.store(outbox=True)))
    await desk.begin("a")
    await desk.delegate(task_id="task-1")
    other = Blind(world.store(outbox=True))
    await other.create("s2", ME, "something else")
    await other.delegate("s2", Order("Two.", ME, task_id="task-1", workflow=FLOW))
    await desk.do(await desk.sessions.task(ID, "task-1"))
    await desk.sessions.tick(ID)
    for _ in range(2):
        await other.end("s2", by=ME)
        await other.tick("s2")
    found = await records(world)
    facts = [DelegationFact.from_json(data) for kind, data in found if kind == "delegation"]
    assert {(one.session_id, one.id) for one in facts} == {(ID, "task-1"), ("s2", "s2.task-1")}
    sessions = [SessionFact.from_json(data) for kind, data in found if kind == "session"]
    assert {one.workflows for one in sessions if one.session_id == "s2"} == {()}
