"""Whoever dies between any two calls of a conductor: another goes on, and nothing is done twice."""

from __future__ import annotations

from typing import Any

from campaigns import campaign
from contract.interleaved import Breaking
from contract.worlds import open_world
from integration.sessions.conducting import ID, PASS, Stage

from control_plane import Disconnected, claims, history, keys
from dcf.sessions import Sessions, seat_of
from dcf.sessions.conductor import Reply

SHARES = 3
ASKED = "- Open the door\n- then go in\n- workflow:stock item=7\n- for billing: Write a bill"


_READS = frozenset({"JSON.GET", "ZMSCORE", "TIME", "ZRANGE", "XRANGE", "GET", "HGET", "HMGET"})


class Dying(Breaking):
    """Breaks at the call number ``fatal`` of those that may write: who dies after he read died, for
    all others, after what he wrote before."""

    async def command(self, *args: str | int) -> Any:
        if args[0] in _READS and not self.broken:
            return await self._inner.command(*args)
        return await super().command(*args)


@campaign(SHARES)
async def test_whoever_dies_after_any_call_another_goes_on_and_nothing_is_done_twice(
    share: int,
) -> None:
    """On the twin, which passes the contract of the control plane: each call is once the last."""
    fatal = 1 + share
    while not await _survived(fatal):
        fatal += SHARES
    assert fatal > 20


async def _survived(fatal: int) -> bool:
    """Die after the call ``fatal``, go on elsewhere, and check; whether the end came before it."""
    world = await open_world(None)
    await Stage(world).begin()
    breaking = Dying(world.backend, fatal, "after")
    mortal = Stage(world, Sessions(world.store(breaking)))
    try:
        await _conduct(mortal, Stage(world))
    except Disconnected:
        assert breaking.broken
    survivor = Stage(world)
    replies = await _conduct(survivor, survivor)
    await _check(survivor, replies)
    return not breaking.broken


async def _conduct(stage: Stage, hands: Stage) -> list[Reply]:
    """Ask, have it done, with one failure on the way, and end; all that was answered."""
    stage.flows["stock"] = PASS
    replies = [await stage.conductor.turn(ID, ASKED, request_id="q1")]
    while (last := await stage.conductor.answer(ID, "q1")) is None:
        replies += await stage.conductor.attend(ID)
        session = await stage.session()
        members = [seat_of(ID, one) for one in session.companions]
        _, seats = await claims.ends(stage.world.backend, keys.COMPANIONS, members)
        if session.open_tasks:
            assert set(seats) == set(members), "somebody is to serve whoever was made"
        await hands.sit()
        for task in (await hands.session()).open_tasks:
            run = await hands.sessions.store.run_many([task.task_id])
            if task.status == "assigned" and run and not run[0].is_over:
                is_first = task.description == "Open the door" and "-r" not in task.task_id[-3:]
                await (hands.fail(task.task_id) if is_first else hands.do(task.task_id))
    await stage.conductor.finalize(ID)
    return [*replies, last]


async def _check(stage: Stage, replies: list[Reply]) -> None:
    assert "All 4 tasks are done." in replies[-1].text
    tasks = {task.task_id: task for task in await stage.sessions.tasks(ID)}
    stem = replies[0].task_ids[0].removesuffix("-01")
    wanted = {f"{stem}-{name}" for name in ("01", "01-r1", "02", "02-r1", "03", "04")}
    assert set(tasks) == wanted
    for task_id, task in tasks.items():
        if task.first_at is None:
            continue
        told = [one.event["type"] async for one in history.read(stage.sessions.store, task_id)]
        assert (told.count("RunStarted"), told.count("RunEnded")) == (1, 1), told
    session = await stage.session()
    assert session.state == "completed"
    assert len(session.former) == 2, "one generalist, one for billing"
    rules = [event["rule"] for event in await stage.events("RuleFired")]
    assert (rules.count("list"), rules.count("passing-trouble")) == (1, 1)
    said = [event for event in await stage.events("Said") if event.get("request") == "q1"]
    assert [event["role"] for event in said].count("user") == 1
    assert sum("All 4 tasks are done." in event["text"] for event in said) == 1
