"""The same order again is one task, whatever became of it; another under its id is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from desks import ID, ME, Desk
from worlds import World

from control_plane import claims, keys
from dcf.sessions import Broadcast, Order, Sessions, TaskExists, UnknownTask, seat_of
from dcf.sessions.draft import PAGE


@pytest.fixture
def desk(world: World) -> Desk:
    return Desk(world)


async def test_again_after_it_was_given_to_another(desk: Desk) -> None:
    await desk.begin("a", "b")
    await desk.delegate(task_id="t", companion_id="companion-a")
    await desk.sessions.redelegate(ID, "t", "companion-b", by=ME)
    again = await desk.delegate(task_id="t", companion_id="a")
    assert (again.status, again.companion_id) == ("assigned", "companion-b")


async def test_again_after_its_companion_was_lost_and_after_it_was_dismissed(desk: Desk) -> None:
    await desk.begin("a", "b")
    await desk.delegate(task_id="t", companion_id="companion-a")
    await claims.put(desk.world.backend, keys.COMPANIONS, seat_of(ID, "companion-a"), 1)
    assert (await desk.sessions.tick(ID)).tasks["t"].companion_id == "companion-b"
    assert (await desk.delegate(task_id="t", companion_id="companion-a")).task_id == "t"
    await desk.sessions.dismiss(ID, "companion-a", by=ME)
    assert (await desk.delegate(task_id="t", companion_id="companion-a")).task_id == "t"
    assert (await desk.sessions.get(ID)).head.counts.delegated == 1


async def test_again_while_the_session_ends_and_when_it_is_over(desk: Desk) -> None:
    await desk.begin("a")
    task = await desk.delegate(task_id="t")
    assert (await desk.sessions.end(ID, by=ME)).state == "completing"
    assert (await desk.delegate(task_id="t")).status == "assigned"
    await desk.do(task)
    assert (await desk.sessions.get(ID)).state == "completed"
    assert (await desk.delegate(task_id="t")).status == "succeeded"


async def test_a_broadcast_again(desk: Desk) -> None:
    await desk.begin("a", "b")
    asked = Broadcast(Order("Vote.", ME, task_id="g"), "all", most=5)
    group = await desk.sessions.broadcast(ID, asked)
    assert await desk.sessions.broadcast(ID, asked) == group
    for other in (
        replace(asked, order=replace(asked.order, description="Vote again.")),
        replace(asked, mode="quorum"),
    ):
        with pytest.raises(TaskExists):
            await desk.sessions.broadcast(ID, other)
    with pytest.raises(TaskExists):
        await desk.delegate(task_id="g", description="Vote.")


async def filled(desk: Desk) -> None:
    """One page of closed tasks, ``t0`` first; ``t1`` failed."""
    await desk.begin("a")
    for number in range(PAGE):
        await desk.delegate(task_id=f"t{number}")
        if number == 1:
            await desk.sessions.cancel(ID, "t1", by=ME)
        else:
            await desk.do(await desk.sessions.task(ID, f"t{number}"))
    await desk.sessions.tick(ID)
    session = await desk.sessions.tick(ID)
    assert (session.head.pages, dict(session.tasks)) == (1, {})


async def test_of_tasks_on_pages(desk: Desk) -> None:
    await filled(desk)
    assert (await desk.delegate(task_id="t0")).status == "succeeded"
    with pytest.raises(TaskExists):
        await desk.delegate(task_id="t0", description="Another thing entirely.")
    assert (await desk.sessions.get(ID)).head.counts.delegated == PAGE
    follows = await desk.delegate(after=("t0",))
    assert follows.status == "assigned"
    broken = await desk.delegate(after=("t0", "t1"))
    assert (broken.error or {})["message"] == "it was to follow t1 (cancelled)"
    group = Broadcast(Order("Vote.", ME, after=("t1",)), "all", most=5)
    assert (await desk.sessions.broadcast(ID, group)).status == "failed"
    with pytest.raises(UnknownTask):
        await desk.delegate(after=("t77",))


async def test_of_a_task_that_goes_to_a_page_at_this_moment(desk: Desk) -> None:
    """It is read as open to the change, and on no page; then the page turns."""
    await desk.begin("a")
    for number in range(PAGE):
        await desk.delegate(task_id=f"t{number}")
        await desk.do(await desk.sessions.task(ID, f"t{number}"))

    class Slow(Sessions):
        async def check_ids(self, *_: object) -> None:
            self.looked = False

        async def _paged(self, *args: object) -> dict[str, object]:  # type: ignore[override]
            found = await super()._paged(*args)  # type: ignore[arg-type]
            if not self.looked:
                self.looked = True
                await desk.sessions.tick(ID)
                await desk.sessions.tick(ID)
            return found  # type: ignore[return-value]

    slow = Slow(desk.world.store())
    again = await slow.delegate(ID, Order("Do it.", ME, task_id="t3"))
    assert (again.status, (await slow.get(ID)).head.pages) == ("succeeded", 1)
    assert (await slow.get(ID)).head.counts.delegated == PAGE
