"""What is told of sessions: each task that ended once it is there, at least once, and what follows
from telling it again is nothing."""

from __future__ import annotations

from typing import Any

import pytest
from desks import ID, ME
from test_guidance import FAILED, GOOD, Filled, Office, records
from worlds import World

from control_plane import Disconnected
from dcf.knowledge import DelegationFact, SessionFact
from dcf.sessions import Broadcast, Order, Sessions
from dcf.workflow import Succeeded


def of(kind: str, found: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [data for name, data in found if name == kind]


async def test_a_task_and_its_session_are_told_as_they_ended(world: World) -> None:
    office = Office(world, outbox=True)
    await office.sessions.create(ID, ME, "Help ann@example.com with order 7")
    await office.employ("a", "billing")
    task = await office.delegate(skills=(GOOD,), task_type="refund", priority="high", tier=2)
    lease = await office.lease(task)
    await world.advance(2_000)
    metrics = {"estimated_cost_usd": 0.25, "total_tokens": 900, "model": "small"}
    await office.finish(lease, Succeeded({}, "done", metrics=metrics))  # type: ignore[arg-type]
    await office.sessions.tick(ID)
    await office.sessions.end(ID, by=ME)
    await office.sessions.tick(ID)
    found = await records(world)
    [delegation] = of("delegation", found)
    fact = DelegationFact.from_json(delegation)
    assert (fact.id, fact.status, fact.task_type) == (task.task_id, "succeeded", "refund")
    assert (fact.specialization, fact.skills, fact.priority) == ("billing", (GOOD,), "high")
    assert (fact.tier, fact.model, fact.cost_usd, fact.tokens) == (2, "small", 0.25, 900)
    assert fact.started_at is not None and fact.finished_at - fact.started_at == 2_000
    told = [SessionFact.from_json(one) for one in of("session", found)]
    assert [one.state for one in told] == ["active", "completed"]
    assert told[-1].objective == "Help [email] with order 7"
    assert told[-1].tasks == {
        "delegated": 1, "succeeded": 1, "failed": 0, "partial": 0, "cancelled": 0
    }  # fmt: skip
    assert (told[-1].companions, told[-1].ended_at is None) == (1, False)


async def test_what_ended_is_told_once_however_often_it_is_looked_at(world: World) -> None:
    office = Office(world, outbox=True)
    await office.begin("a")
    await office.done(2, GOOD, FAILED)
    for _ in range(3):
        await office.sessions.tick(ID)
    found = await records(world)
    assert len(of("delegation", found)) == 2
    assert {one["error_code"] for one in of("delegation", found)} == {"refused_by_bank"}
    assert len(of("session", found)) == 1


async def test_who_dies_before_it_is_noted_has_it_told_again(world: World) -> None:
    office = Office(world, outbox=True)
    await office.begin("a")
    await office.do(await office.delegate())
    mortal = Sessions(world.store(outbox=True))

    async def dies(*_: Any, **__: Any) -> None:
        raise Disconnected

    mortal.change = dies  # type: ignore[method-assign,assignment]
    with pytest.raises(Disconnected):
        await mortal.tick(ID)
    assert len(of("delegation", await records(world))) == 1
    await office.sessions.tick(ID)
    await office.sessions.tick(ID)
    first, second = of("delegation", await records(world))
    assert first == second


async def test_while_too_much_waits_it_is_told_later(world: World) -> None:
    filled = Filled(world.backend)
    office = Office(world, filled, outbox=True)
    await office.begin("a")
    await office.do(await office.delegate())
    session = await office.sessions.tick(ID)
    assert await records(world) == []
    assert not any(task.told for task in session.tasks.values())
    filled.full = False
    await office.sessions.tick(ID)
    assert [kind for kind, _ in await records(world)] == ["delegation", "session"]


async def test_a_broadcast_is_told_by_its_children(world: World) -> None:
    office = Office(world, outbox=True)
    await office.begin("a", "b")
    group = await office.sessions.broadcast(ID, Broadcast(Order("Vote.", ME), "all", most=2))
    for child in group.children:
        await office.do(await office.sessions.task(ID, child))
    session = await office.sessions.tick(ID)
    session = await office.sessions.tick(ID)
    assert all(task.told for task in session.tasks.values())
    told = {one["task_id"] for one in of("delegation", await records(world))}
    assert told == set(group.children)


async def test_a_name_that_is_no_id_is_told_by_one(world: World) -> None:
    office = Office(world, outbox=True)
    await office.begin("a")
    await office.do(await office.delegate(task_id="_odd"))
    await office.sessions.tick(ID)
    [delegation] = of("delegation", await records(world))
    fact = DelegationFact.from_json(delegation)
    assert fact.task_id.startswith("id-")


async def test_a_store_that_does_not_feed_the_outbox_tells_nobody(world: World) -> None:
    office = Office(world)
    await office.begin("a")
    await office.done(1, GOOD)
    assert await records(world) == []
    assert (await office.sessions.get(ID)).tasks
