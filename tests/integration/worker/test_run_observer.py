"""Finished runs are observed exactly once, whoever dies or looks at the same time."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from campaigns import campaign
from integration.worker.crew import Crew, crew_on
from integration.worker.mortal_observer import MORTAL
from memory_world import Numbered, Ticking, started
from unit.workflow.stage import flow, passing

from dcf.memory import SYSTEM, Filter, Memory, Source, random_id
from dcf.worker.run_observer import RunObserver
from dcf.workflow import finalize, load, submit

FLOW = flow(
    Which={
        "Type": "Choice",
        "Choices": [{"Variable": "$.n", "NumericGreaterThan": 1, "Next": "Many"}],
        "Default": "One",
    },
    Many=passing(End=True),
    One=passing(End=True),
)


@pytest.fixture
async def crew(redis_url: str) -> AsyncIterator[Crew]:
    async with crew_on(redis_url) as crew:
        yield crew


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


async def ended(crew: Crew, runs: dict[str, int]) -> None:
    """These runs are over and sealed; nobody looked at them."""
    crew.worker()
    for name, n in runs.items():
        await submit(crew.store, load(json.dumps(FLOW), file="f"), {"n": n}, workflow_id=name)
    for name in runs:
        await crew.end(name)
        await finalize(crew.store, name, by="test")


async def test_a_sweep_finds_what_a_process_left_that_died_before_it_looked(
    crew: Crew, memory: Memory
) -> None:
    await ended(crew, {"a": 1, "b": 2, "c": 3})
    assert await RunObserver(crew.store, memory, "/shop").sweep() == 3
    assert await RunObserver(crew.store, memory, "/shop").sweep() == 0
    rows = {one.title: one for one in await memory.observations.list()}
    assert {title: one.times for title, one in rows.items()} == {"Which→One": 1, "Which→Many": 2}
    assert {one.project for one in rows.values()} == {"/shop"}


async def test_observers_that_are_cut_off_anywhere_leave_each_run_observed_once(
    crew: Crew, memory: Memory
) -> None:
    runs = {f"r-{number}": number % 3 for number in range(12)}
    await ended(crew, runs)
    rng = random.Random(26)

    async def cut_off() -> None:
        observer = RunObserver(crew.store, memory, "/shop")
        for name in rng.sample(sorted(runs), 6):
            observer.end(name)
        task = asyncio.create_task(observer.run())
        for _ in range(rng.randrange(60)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    for _ in range(15):
        await asyncio.gather(cut_off(), cut_off())
    await RunObserver(crew.store, memory, "/shop").sweep()
    for name in runs:
        assert len(await memory.observations.list(Filter(source_ids=[name]))) == 1, name
    assert sum(one.times for one in await memory.observations.list()) == len(runs)


async def test_a_clock_that_was_ahead_keeps_no_run_from_a_sweep(crew: Crew, memory: Memory) -> None:
    later = await crew.store.now_ms() + 10**10
    await memory.observations.observe_until("run", later, later, by=SYSTEM)
    await ended(crew, {"a": 1})
    assert await RunObserver(crew.store, memory, "/shop").sweep() == 1


async def test_a_run_that_is_not_sealed_yet_is_not_passed_over(crew: Crew, memory: Memory) -> None:
    await ended(crew, {"a": 1})
    meta = crew.store.keys("a").meta
    # As a worker leaves it that dies between the end of a run and its seal.
    sealed = await crew.store.backend.command("JSON.GET", meta, "$.finalized_at")
    await crew.store.backend.command("JSON.SET", meta, "$.finalized_at", "null")
    observer = RunObserver(crew.store, memory, "/shop")
    assert await observer.sweep() == 0
    await crew.store.backend.command("JSON.SET", meta, "$.finalized_at", sealed[1:-1])
    assert await observer.sweep() == 1


async def test_what_ended_here_is_looked_at_before_the_process_ends(
    crew: Crew, memory: Memory
) -> None:
    observer = RunObserver(crew.store, memory, "/shop")
    await ended(crew, {"a": 1})
    observer.end("gone")
    observer.end("a")
    await observer.at_last()
    assert len(await memory.observations.list()) == 1


_STEPS = 1_500
"""Calls that it makes until it is done, about."""


@campaign(100)
async def test_an_observer_that_is_killed_anywhere_leaves_each_run_observed_once(
    redis_url: str, tmp_path: Path, share: int
) -> None:
    rng = random.Random(share)
    runs = {f"r-{number}": number for number in range(4)}
    async with crew_on(redis_url) as crew:
        await ended(crew, runs)
        for number in range(2):
            file = tmp_path / f"{number}.db"
            mortal = started(MORTAL, redis_url, file, rng.randint(1, _STEPS))
            _, said = await asyncio.to_thread(mortal.communicate)
            assert mortal.returncode in (0, -9), said
            async with Memory.open(Source(file), clock=Ticking(), new_id=random_id) as memory:
                await RunObserver(crew.store, memory, "/shop").sweep()
                rows = await memory.observations.list()
                assert sorted(one.times for one in rows) == [2, 2]
                for name in runs:
                    assert len(await memory.observations.list(Filter(source_ids=[name]))) == 1
                assert await memory.check() == ()


async def test_who_looks_at_last_may_do_so_beside_who_looks_for_ever(
    crew: Crew, memory: Memory
) -> None:
    runs = {f"r-{number}": number % 3 for number in range(4)}
    await ended(crew, runs)
    observer = RunObserver(crew.store, memory, "/shop")
    for name in runs:
        observer.end(name)
    looking = asyncio.create_task(observer.run())
    await asyncio.gather(observer.at_last(), observer.at_last())
    assert not looking.done()
    looking.cancel()
    assert sum(one.times for one in await memory.observations.list()) == 4
