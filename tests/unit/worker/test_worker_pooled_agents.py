"""Agents of a pool: one Task at a time has one, and only who has it gives it back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from memory_world import Numbered, Ticking

from dcf.agents import Assignment, LocalAgents, TaskError
from dcf.memory import (
    Agent,
    Memory,
    MemoryBusy,
    MemoryFull,
    MemoryProblem,
    MemoryUnusable,
    Source,
)
from dcf.worker import GivenBack, WorkerAgents, as_agent

WORK = Assignment("A", "", {}, ())
POOLED = {"lifecycle": {"mode": "pooled", "reuse_key": "desk"}}


class Interrupted(LocalAgents):
    """Something else happens just after an agent was read, once."""

    meanwhile: Any = None

    async def get(self, agent_id: str) -> Agent:
        agent = await super().get(agent_id)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return agent


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Interrupted]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        yield Interrupted(memory)
        assert await memory.check() == ()


def a_task(run: str, path: str = "A", fence: int = 1) -> Any:
    """What of a Task says which agent it gets."""
    return SimpleNamespace(
        run=SimpleNamespace(pins={}, incarnation=run),
        lease=SimpleNamespace(workflow_id=run, path=path, fence=fence, visit=1, incarnation=run),
        state=SimpleNamespace(name="A", binding=POOLED),
    )


async def busy(runtime: LocalAgents) -> list[list[str]]:
    """What the agents of the pool are busy with."""
    pool = await runtime.list(tags=["pool:desk"])
    return [[tag for tag in one.tags if tag.startswith("busy:")] for one in pool]


async def given_back(performer: Any) -> None:
    await performer.after(performer.agent_id)


async def test_an_agent_is_taken_by_one_state_and_then_by_another(runtime: Interrupted) -> None:
    workers = WorkerAgents(runtime)
    one = await workers.performer(a_task("one"))
    other: Any = await workers.performer(a_task("other"))
    assert len(await busy(runtime)) == 2
    await given_back(one)
    again: Any = await workers.performer(a_task("third"))
    assert again.agent_id != other.agent_id and len(await busy(runtime)) == 2


async def test_who_lost_the_lease_does_not_give_back_what_the_next_one_has(
    runtime: Interrupted,
) -> None:
    workers = WorkerAgents(runtime)
    slow: Any = await workers.performer(a_task("r", fence=1))
    heir: Any = await workers.performer(a_task("r", fence=2))
    assert heir.agent_id == slow.agent_id
    await given_back(slow)
    assert await busy(runtime) == [["busy:r/A/2"]]
    await given_back(heir)
    assert await busy(runtime) == [[]]


async def test_an_agent_that_another_run_took_meanwhile_stays_with_it(runtime: Interrupted) -> None:
    workers = WorkerAgents(runtime)
    first = await workers.performer(a_task("first"))

    async def freed_and_taken() -> None:
        await given_back(first)
        await workers.performer(a_task("second"))

    runtime.meanwhile = freed_and_taken
    await workers.delete("first")
    assert await busy(runtime) == [["busy:second/A/1"]]


async def test_a_state_is_told_from_one_inside_it(runtime: Interrupted) -> None:
    workers = WorkerAgents(runtime)
    outer: Any = await workers.performer(a_task("r", "A"))
    inner: Any = await workers.performer(a_task("r", "A/1"))
    assert outer.agent_id != inner.agent_id


async def test_what_was_done_counts_though_the_agent_cannot_be_given_back(
    runtime: Interrupted, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    workers = WorkerAgents(runtime)
    performer = await workers.performer(a_task("r"))
    report = object()

    async def perform(*_: Any, **__: Any) -> Any:
        return report

    async def full(*_: Any, **__: Any) -> Any:
        raise MemoryFull(path="memory.db")

    monkeypatch.setattr(runtime, "perform", perform)
    with monkeypatch.context() as patch:
        patch.setattr(runtime, "update", full)
        assert await performer.perform(WORK, None, None) is report  # type: ignore[arg-type]
    assert "is not given back for now" in caplog.text
    assert await busy(runtime) == [["busy:r/A/1"]]
    await workers.delete("r")
    assert await busy(runtime) == [[]]


@pytest.mark.parametrize(
    ("problem", "ends"),
    [
        (MemoryUnusable(path="memory.db", reason="it is a folder"), TaskError),
        (MemoryFull(path="memory.db"), GivenBack),
        (MemoryBusy(path="memory.db", seconds=5), GivenBack),
    ],
)
async def test_only_trouble_of_the_memory_that_does_not_pass_fails_a_task(
    runtime: Interrupted,
    monkeypatch: pytest.MonkeyPatch,
    problem: MemoryProblem,
    ends: type[Exception],
) -> None:
    monkeypatch.setattr(as_agent, "_MEMORY_AGAIN_S", 0)
    workers = WorkerAgents(runtime)
    performer = await workers.performer(a_task("r"))

    async def broken(*_: Any, **__: Any) -> Any:
        raise problem

    monkeypatch.setattr(runtime, "perform", broken)
    with pytest.raises(ends) as at_work:
        await performer.perform(WORK, None, None)  # type: ignore[arg-type]
    monkeypatch.setattr(runtime, "list", broken)
    with pytest.raises(ends) as before:
        await workers.performer(a_task("other"))
    for raised in (at_work.value, before.value):
        if isinstance(raised, TaskError):
            assert raised.error == "DCF.AgentUnavailable"
        elif isinstance(raised, GivenBack):
            assert raised.code == problem.code
