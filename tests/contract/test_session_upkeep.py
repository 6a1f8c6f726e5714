"""Sessions that are full, clocks that move while somebody looks, and who is credited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from desks import ID, ME, Desk
from worlds import World

from control_plane import Committed, Lease, Refusal, SessionFull, SessionStore
from dcf.sessions import NewCompanion, Session, Sessions, settle
from dcf.sessions.conductor import Conductor
from dcf.sessions.ending import found_ended
from dcf.sessions.guidance import Guidance
from dcf.sessions.staffing import FORMER_LIMIT


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Histories of thirty events, twenty of which may be notes."""
    monkeypatch.setattr(SessionStore, "kind", replace(SessionStore.kind, most=30, notes=20))
    yield


@pytest.mark.usefixtures("short")
async def test_a_history_full_of_notes_has_room_for_what_settles_tasks(desk: Desk) -> None:
    await desk.begin("a", "b")
    done, open_ = await desk.delegate(), await desk.delegate()
    lease = await desk.lease(done)
    assert isinstance(lease, Lease)
    with pytest.raises(SessionFull):
        while True:
            await desk.sessions.say(ID, "Said", text="so")
    for _ in range(3):
        await desk.delegate()
    with pytest.raises(SessionFull):
        while True:
            await desk.delegate()
    await desk.finish(lease)
    await settle(desk.sessions, ID, done.task_id)
    assert (await desk.sessions.task(ID, done.task_id)).status == "succeeded"
    assert (await desk.sessions.cancel(ID, open_.task_id, by=ME)).status == "cancelled"
    await desk.world.advance(400_000)
    assert (await desk.sessions.tick(ID)).open_tasks == []
    assert (await desk.sessions.end(ID, by=ME)).state == "completed"


async def test_a_session_that_is_full_is_finalized_all_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.begin("a")
    conductor = Conductor(desk.sessions, Guidance(desk.sessions), ME)
    await conductor.turn(ID, "open the door")
    [task] = (await desk.sessions.get(ID)).open_tasks
    await desk.do(task)
    monkeypatch.setattr(SessionStore, "kind", replace(SessionStore.kind, most=1, notes=1))
    reply = await conductor.finalize(ID)
    assert (reply.is_last, reply.rows[0].status) == (True, "succeeded")


async def test_progress_is_told_once_a_second(desk: Desk) -> None:
    await desk.begin("a")
    other = Sessions(desk.world.store())
    told = [await one.say_progress(ID, "t", calls=1) for one in (desk.sessions, other, other)]
    assert told == [True, False, False]
    assert len(await desk.events("TaskProgress")) == 1


async def test_a_task_that_was_given_away_meanwhile_is_not_late(desk: Desk) -> None:
    """The tick saw it wait; it was assigned, in time, before the tick came to write."""
    await desk.begin()
    await desk.delegate(task_id="t", timeout_s=5)
    seen = await desk.sessions.get(ID)
    await desk.employ("a")
    await desk.world.advance(5_500)

    class Slow(Sessions):
        async def get(self, session_id: str) -> Session:
            return seen

    slow = Slow(desk.world.store())
    assert (await found_ended(slow, seen, desk.world.now_ms))["t"].code == "deadline_passed"
    await slow.tick(ID)
    assert (await desk.sessions.task(ID, "t")).status == "assigned"


async def test_nobody_gets_a_task_that_missed_its_deadline(desk: Desk) -> None:
    await desk.begin()
    await desk.delegate(task_id="t", timeout_s=5)
    await desk.world.advance(5_001)
    await desk.employ("late")
    assert (await desk.sessions.task(ID, "t")).status == "queued"


async def test_a_task_is_credited_to_who_did_it(desk: Desk) -> None:
    """It was given to another; its run was not moved before it was done."""

    class Mortal(Sessions):
        async def start(self, *_: object) -> None:
            pass

    await desk.begin("a", "b")
    task = await desk.delegate(companion_id="companion-a")
    lease = await desk.lease(task)
    assert isinstance(lease, Lease)
    await Mortal(desk.world.store()).redelegate(ID, task.task_id, "companion-b", by=ME)
    await desk.finish(lease)
    await settle(desk.sessions, ID, task.task_id)
    session = await desk.sessions.get(ID)
    assert session.tasks[task.task_id].companion_id == "companion-a"
    assert {k: one.succeeded for k, one in session.companions.items()} == {
        "companion-a": 1, "companion-b": 0
    }  # fmt: skip
    assert session.companions["companion-b"].status == "idle"


async def test_a_task_that_is_taken_away_is_taken_though_the_same_one_gets_it(desk: Desk) -> None:
    await desk.begin("a")
    task = await desk.delegate()
    lease = await desk.lease(task)
    assert isinstance(lease, Lease)
    again = await desk.sessions.redelegate(ID, task.task_id, None, by=ME)
    assert isinstance(await desk.finish(lease), Refusal)
    taken = await desk.lease(again)
    assert isinstance(taken, Lease)
    await desk.sessions.tick(ID)
    assert isinstance(await desk.finish(taken), Committed)


async def test_the_newest_of_those_who_went_are_kept(desk: Desk) -> None:
    await desk.begin()
    for number in range(FORMER_LIMIT + 3):
        await desk.sessions.employ(ID, NewCompanion(ME, name=f"n{number}"))
        await desk.world.advance(1)
        await desk.sessions.dismiss(ID, f"n{number}", by=ME)
    session = await desk.sessions.get(ID)
    kept = {f"companion-n{number}" for number in range(3, FORMER_LIMIT + 3)}
    assert (set(session.former), session.head.employed) == (kept, FORMER_LIMIT + 3)


async def test_what_an_end_cancels_is_told(desk: Desk) -> None:
    await desk.begin("a")
    both = [await desk.delegate(), await desk.delegate()]
    await desk.sessions.end(ID, by=ME, cancel=True)
    told = [event["task_id"] for event in await desk.events("TaskCancelled")]
    assert told == [task.task_id for task in both]
