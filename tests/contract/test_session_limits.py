"""What a session refuses because it would not fit, and what it keeps of what is reported."""

from __future__ import annotations

from typing import Any

import pytest
from desks import ID, ME, Desk
from worlds import World

from control_plane import Lease, payload
from dcf.sessions import BadValue, Sessions, TooLarge, tick_due
from dcf.workflow import Failed


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


async def test_what_a_task_thinks_with_is_checked_before_it_is_a_task(desk: Desk) -> None:
    await desk.begin("a")
    for wrong, why in (
        ({"tier": 99}, "outside 0 to 3"),
        ({"tier": -1}, "outside 0 to 3"),
        ({"budget": {"x": 1}}, "no field `x`"),
        ({"model": "m" * 300}, "1 to 256 characters"),
    ):
        with pytest.raises(BadValue, match=why):
            await desk.delegate(**wrong)
    assert (await desk.sessions.get(ID)).tasks == {}


async def test_a_report_is_kept_small_in_the_session_and_whole_in_its_run(desk: Desk) -> None:
    await desk.begin("a")
    task = await desk.delegate(description="d" * 16_000, input={"k": "v" * 200_000})
    huge = {"tokens": 7, "notes": "x" * 3_000_000, **{f"m{number}": number for number in range(99)}}
    done = Failed("E" * 500_000, "because", metrics=huge)
    await desk.do(task, done)
    closed = await desk.sessions.task(ID, task.task_id)
    assert closed.metrics is not None and closed.metrics["tokens"] == 7
    assert len(payload.encode(closed.to_json()).stored) < 16_000
    definition = (await desk.sessions.store.run(task.task_id)).raw["definition"]
    assert definition


async def test_tasks_that_the_document_has_no_room_for_are_refused_and_the_rest_ends(
    desk: Desk,
) -> None:
    await desk.begin("a")
    given = []
    with pytest.raises(TooLarge, match="open tasks of session"):
        for number in range(40):
            given.append(await desk.delegate(input={"n": number, "k": "v" * 250_000}))
    assert len(given) >= 8
    session = await desk.sessions.end(ID, by=ME, cancel=True)
    while not session.is_over:
        session = await desk.sessions.tick(ID)
    assert session.head.counts.cancelled == len(given)


async def test_one_session_that_cannot_be_looked_at_keeps_nobody_from_the_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.begin("a")
    await desk.delegate(task_id="t", timeout_s=5)
    await desk.sessions.create("broken", ME, "help")
    look = Sessions.tick

    async def tick(sessions: Sessions, session_id: str) -> Any:
        if session_id == "broken":
            raise RuntimeError("a defect")
        return await look(sessions, session_id)

    monkeypatch.setattr(Sessions, "tick", tick)
    await desk.world.advance(60_000)
    await tick_due(desk.sessions)
    assert (await desk.sessions.task(ID, "t")).status == "failed"


async def test_in_a_session_that_ends_nothing_waits_for_who_cannot_come(desk: Desk) -> None:
    await desk.begin("a")
    await desk.employ("b", "billing")
    await desk.delegate(task_id="t", specialization="billing", companion_id="companion-b")
    await desk.delegate(task_id="next", specialization="billing")
    await desk.sessions.end(ID, by=ME)
    lease = await desk.lease(await desk.sessions.task(ID, "t"))
    assert isinstance(lease, Lease)
    await desk.finish(lease)
    await desk.sessions.dismiss(ID, "companion-b", by=ME)
    session = await desk.sessions.tick(ID)
    task = await desk.sessions.task(ID, "next")
    assert (session.state, task.status) == ("completed", "failed")
    assert task.error is not None and "no companion for billing" in task.error["message"]
