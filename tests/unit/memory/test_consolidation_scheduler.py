"""The scheduler: whose time it is, by an injected clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    InvalidEntry,
    Memory,
    MemoryBusy,
    NewAgent,
    NewBlock,
    NewMessage,
    Source,
)
from dcf.memory.consolidation import (
    Activity,
    Consolidator,
    Scheduler,
    SchedulerSettings,
    WriteFailed,
    Written,
)

SECOND, DAY = 1_000, 86_400_000
SAME = "The harbour opens at 6.\nAda is in Oslo.\nThe harbour opens at 6."
ONCE = "The harbour opens at 6.\nAda is in Oslo."


@pytest.fixture
def activity(clock: Ticking) -> Activity:
    return Activity(clock)


@pytest.fixture
async def memory(tmp_path: Path, clock: Ticking, activity: Activity) -> AsyncIterator[Memory]:
    async with Memory.open(
        Source(tmp_path / "m.db"),
        clock=clock,
        new_id=Numbered(),
        embedder="none",
        observers=[activity],
    ) as opened:
        yield opened
        assert await opened.check() == ()


async def add(memory: Memory, by: Actor, name: str, *, sleeptime: bool = True) -> None:
    new = NewAgent(name, enable_sleeptime=sleeptime)
    await memory.agents.create(new, by=by, agent_id=name, blocks=[NewBlock("notes", SAME)])


def scheduler(memory: Memory, **more: object) -> Scheduler:
    return Scheduler(Consolidator(memory), **more)  # type: ignore[arg-type]


async def text(memory: Memory, agent_id: str) -> str:
    return (await memory.blocks.read(agent_id, "notes")).value


async def test_idle_agents_that_want_it_are_consolidated(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await add(memory, by, "anna")
    await add(memory, by, "bert", sleeptime=False)
    clock.now += 61 * SECOND
    (session,) = await scheduler(memory).tick()
    assert session.agent_id == "anna"
    assert (await text(memory, "anna"), await text(memory, "bert")) == (ONCE, SAME)


async def test_agents_at_work_are_left_alone(
    memory: Memory, by: Actor, clock: Ticking, activity: Activity
) -> None:
    await add(memory, by, "anna")
    clock.now += 59 * SECOND
    for watched in (None, activity):
        assert await scheduler(memory, activity=watched).tick() == ()
    await memory.messages.append("anna", NewMessage("user", "Hello!"), by=by)
    clock.now += 59 * SECOND
    for watched in (None, activity):
        assert await scheduler(memory, activity=watched).tick() == ()
    clock.now += 2 * SECOND
    assert len(await scheduler(memory, activity=activity).tick()) == 1


async def test_activity_is_noted_and_forgotten_with_the_agent(
    memory: Memory, by: Actor, clock: Ticking, activity: Activity
) -> None:
    await add(memory, by, "anna")
    created = activity.seen("anna")
    await memory.agents.update("anna", by=by, description="sleeps")
    updated = activity.seen("anna")
    await memory.blocks.append("anna", "notes", "x", by=by)
    written = activity.seen("anna")
    assert created is not None and updated is not None and written is not None
    assert created < updated < written
    clock.now += 61 * SECOND
    await scheduler(memory, activity=activity).tick()
    assert activity.seen("anna") == written, "a consolidation is no activity"
    await memory.agents.delete("anna", by=by)
    assert activity.seen("anna") is None


async def test_an_agent_is_looked_at_again_when_it_was_active(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await add(memory, by, "anna")
    clock.now += 61 * SECOND
    one = scheduler(memory)
    assert len(await one.tick()) == 1
    # As if nobody noticed: without activity nobody looks.
    for _ in range(3):
        clock.now += 3600 * SECOND
        assert await one.tick() == ()
    await memory.blocks.append("anna", "notes", "The harbour opens at 6.", by=by)
    clock.now += 61 * SECOND
    assert len(await one.tick()) == 1


async def test_a_day_later_it_is_looked_at_for_what_grew_old(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await add(memory, by, "anna")
    said = [NewMessage("user", f"The {number} is at 10:{number:02}.") for number in range(60)]
    await memory.messages.append("anna", *said, by=by)
    one = scheduler(memory)
    done = []
    for _ in range(10):
        clock.now += DAY
        done.append([change.strategy for session in await one.tick() for change in session.changes])
    assert [strategies for strategies in done if strategies] == [["merge"], ["archive"]]


async def test_what_was_rolled_back_is_not_done_again_before_there_is_news(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await add(memory, by, "anna")
    clock.now += 61 * SECOND
    one = scheduler(memory)
    (session,) = await one.tick()
    await Consolidator(memory).rollback(session.id, by=by)
    for _ in range(3):
        clock.now += DAY
        assert await one.tick() == ()
        assert await scheduler(memory).tick() == (), "nor by a process that was started since"
    assert await text(memory, "anna") == SAME
    await memory.messages.append("anna", NewMessage("user", "Hello!"), by=by)
    clock.now += 61 * SECOND
    assert len(await one.tick()) == 1


async def test_two_schedulers_consolidate_an_agent_once(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    for name in ("anna", "bert"):
        await add(memory, by, name)
    clock.now += 61 * SECOND
    both = await asyncio.gather(scheduler(memory).tick(), scheduler(memory).tick())
    assert sorted(session.agent_id for one in both for session in one) == ["anna", "bert"]


async def test_an_agent_that_is_deleted_meanwhile_is_no_error(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    long = "\n".join(f"The port of service s{number} is {number}." for number in range(300))
    for name in ("anna", "bert"):
        await add(memory, by, name)
    await memory.blocks.write("anna", "notes", long, by=by)
    clock.now += 61 * SECOND

    async def delete(prompt: str, tokens: int) -> Written:
        await memory.agents.delete("anna", by=by)
        raise WriteFailed("nobody is there")

    one = Scheduler(Consolidator(memory, write=delete))
    assert [session.agent_id for session in await one.tick()] == ["bert"]


async def test_it_runs_at_its_interval_until_it_is_cancelled(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await add(memory, by, "anna")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += round(seconds * 1000)
        if len(slept) == 3:
            raise asyncio.CancelledError

    settings = SchedulerSettings(interval_s=40, idle_s=60)
    with pytest.raises(asyncio.CancelledError):
        await scheduler(memory, settings=settings, sleep=sleep).run_for_ever()
    assert slept == [40, 40, 40]
    assert await text(memory, "anna") == ONCE


async def test_it_does_nothing_if_it_is_not_enabled(memory: Memory) -> None:
    async def sleep(seconds: float) -> None:
        raise AssertionError

    settings = SchedulerSettings(enabled=False)
    await scheduler(memory, settings=settings, sleep=sleep).run_for_ever()


def test_bad_settings_are_refused_with_all_that_is_wrong() -> None:
    with pytest.raises(InvalidEntry) as refused:
        SchedulerSettings(interval_s=0, idle_s=float("nan"))
    assert [problem.path for problem in refused.value.problems] == ["/interval_s", "/idle_s"]


async def test_what_fails_is_logged_and_tried_again(
    memory: Memory, by: Actor, clock: Ticking, caplog: pytest.LogCaptureFixture
) -> None:
    long = "\n".join(f"The port of service s{number} is {number}." for number in range(300))
    await add(memory, by, "anna")
    await memory.blocks.write("anna", "notes", long, by=by)
    clock.now += 61 * SECOND
    tries = 0

    async def busy(prompt: str, tokens: int) -> Written:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise MemoryBusy(path="m.db", seconds=30)
        return Written("Three hundred ports.", 5)

    one = Scheduler(Consolidator(memory, write=busy))
    assert await one.tick() == ()
    assert "anna is not consolidated for now" in caplog.text
    (session,) = await one.tick()
    assert session.tokens == 5
