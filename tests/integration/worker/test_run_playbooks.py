"""A Task that fails with an error that was seen before is told what helped: real workers, a real
Redis, a real memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import crew_on
from integration.worker.test_run_nodes import World, agent_task, done, failed
from memory_world import Numbered, Ticking
from pydantic_ai.messages import ToolCallPart

from control_plane import Store, history
from dcf.memory import SYSTEM, Memory, NewPlaybook, Source
from dcf.worker import AgentPerformer
from dcf.worker.performer import Beat
from dcf.workflow import Failed, Outcome, Succeeded, Task

BROKEN = NewPlaybook("account 17 is locked", "Ask for the key of the vault.", "bank team", "/lab")


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as opened:
        await opened.playbooks.add(BROKEN, by=SYSTEM)
        others = NewPlaybook("quota exceeded", "Wait.", "ann", "/lab")
        await opened.playbooks.add(others, by=SYSTEM)
        elsewhere = NewPlaybook(BROKEN.pattern, "Other.", "bob", "/elsewhere")
        await opened.playbooks.add(elsewhere, by=SYSTEM)
        yield opened
        assert await opened.check() == ()


async def test_a_try_again_is_told_what_helped_before_and_what_came_of_it_is_counted(
    redis_url: str, memory: Memory
) -> None:
    tries = iter([failed("account 4711 is locked"), failed("account 4712 is locked"), done()])

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        return next(tries)

    retry = [{"ErrorEquals": ["Broke"], "MaxAttempts": 2, "IntervalSeconds": 1, "BackoffRate": 1}]
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        look = agent_task(Retry=retry)
        assert await world.run("r1", Look={**look, "End": True}) == "succeeded"
        (told,) = world.told.values()
        first, *again = told
        assert "Seen before" not in first and len(again) == 2
        for one in again:
            assert "Seen before: account 17 is locked" in one
            assert "Resolution: Ask for the key of the vault." in one and "bank team" in one
            assert "dcf://playbook/playbook-1" in one
            assert "quota" not in one and "Other." not in one
        events = [entry.event async for entry in history.read(crew.store, "r1")]
        given = [one["observations"] for one in events if one["type"] == "ContextGiven"]
        assert [one[0] for one in given if one] == ["dcf://playbook/playbook-1"] * 2
    # The second try failed with it again, the third succeeded.
    known = await memory.playbooks.get("playbook-1")
    assert [(use.by, use.helped) for use in known.uses] == [
        ("dcf://run/r1/state/Look", False),
        ("dcf://run/r1/state/Look", True),
    ]
    assert (await memory.playbooks.get("playbook-2")).uses == ()


async def test_the_task_behind_a_caught_error_is_told_and_no_other_run(
    redis_url: str, memory: Memory
) -> None:
    def script(work: str, returns: list[Any]) -> ToolCallPart:
        return failed("account 4711 is locked") if work.startswith("Look") else done()

    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Mend", "ResultPath": None}]
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        world.worker()
        look, mend = agent_task(Catch=catch, Next="Mend"), agent_task(End=True)
        assert await world.run("r1", Look=look, Mend=mend) == "succeeded"
        told = {work.partition(" ")[0]: texts for work, texts in world.told.items()}
        assert [len(texts) for texts in told.values()] == [1, 1]
        assert "Seen before" not in told["Look"][0] and "Seen before" in told["Mend"][0]
        assert await world.run("r2", Look={**mend}) == "failed"
        assert not any("Seen before" in text for text in world.told[next(iter(world.told))])
    known = await memory.playbooks.get("playbook-1")
    # Whether that was mended, or given up, nobody knows.
    assert known.uses == ()


class LosesItsLease:
    """Performs Tasks; before the outcome of the second try is committed its run is cancelled."""

    def __init__(self, performer: AgentPerformer, store: Store) -> None:
        self.performer, self.store = performer, store
        self.outcomes: list[Outcome] = []

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        self.outcomes.append(await self.performer.perform(task, beat))
        if task.lease.try_ == 2:
            await self.store.cancel(task.lease.workflow_id, by="test")
        return self.outcomes[-1]


async def test_what_came_of_a_try_whose_lease_was_lost_is_not_counted(
    redis_url: str, memory: Memory
) -> None:
    tries = iter([failed("account 4711 is locked"), done()])

    def script(work: str, returns: list[Any]) -> ToolCallPart:
        return next(tries)

    retry = [{"ErrorEquals": ["Broke"], "MaxAttempts": 1, "IntervalSeconds": 1}]
    async with crew_on(redis_url) as crew:
        world = World(crew, memory, script)
        losing = LosesItsLease(world.performer(), crew.store)
        # It does not hear that its lease is lost: the commit is refused.
        crew.worker(agents=losing, frozen=True)
        assert await world.run("r1", Look=agent_task(Retry=retry, End=True)) == "cancelled"
    assert [type(one) for one in losing.outcomes] == [Failed, Succeeded]
    assert (await memory.playbooks.get("playbook-1")).uses == ()
