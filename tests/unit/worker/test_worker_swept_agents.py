"""Agents of runs that are over are swept, and of those alone, whoever redrives them meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from memory_world import Numbered, Ticking
from unit.worker.test_worker_pooled_agents import WORK, a_task, busy

from dcf.agents import LocalAgents, Report, TaskError, TurnEvent
from dcf.memory import SYSTEM, Memory, Source
from dcf.worker import WorkerAgents


class Working(LocalAgents):
    """Does a task at once; ``gone_after`` steps its agent is deleted."""

    gone_after: int | None = None

    async def perform(self, assignment: Any, call_tool: Any, observe: Any, **more: Any) -> Report:
        agent_id = more["agent_id"]
        await self.get(agent_id)
        if self.gone_after is not None:
            observe(TurnEvent("model_request", 0.0))
            await self.delete(agent_id, by=SYSTEM)
            await self.get(agent_id)
        return Report({"by": agent_id}, "Done.")


@pytest.fixture
async def runtime(tmp_path: Path) -> AsyncIterator[Working]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        yield Working(memory)
        assert await memory.check() == ()


def own_task(run: str, path: str = "A") -> Any:
    task = a_task(run, path)
    task.state = SimpleNamespace(name="A", binding={})
    return task


def over_then(meanwhile: Callable[[], Awaitable[Any]]) -> Callable[[str], Awaitable[bool]]:
    """The run was over when it was looked at, and goes on before the sweep does."""

    async def is_over(_: str) -> bool:
        await meanwhile()
        return True

    return is_over


async def test_an_agent_of_a_redriven_run_is_not_swept(runtime: Working) -> None:
    workers = WorkerAgents(runtime)
    old: Any = await workers.performer(own_task("r"))

    async def redriven() -> None:
        await workers.performer(own_task("r", "B"))

    assert await workers.sweep(over_then(redriven)) == 1
    (left,) = await runtime.list()
    assert left.id != old.agent_id and left.name.startswith("r/B/")


async def test_a_pooled_agent_that_a_redriven_run_took_again_stays_with_it(
    runtime: Working,
) -> None:
    workers = WorkerAgents(runtime)
    await workers.performer(a_task("r", fence=1))

    async def redriven() -> None:
        await workers.performer(a_task("r", fence=2))

    await workers.sweep(over_then(redriven))
    assert await busy(runtime) == [["busy:r/A/2"]]


async def test_an_agent_that_was_swept_before_its_work_began_is_made_anew(
    runtime: Working,
) -> None:
    workers = WorkerAgents(runtime)
    await workers.performer(own_task("r"))
    found: Any = await workers.performer(own_task("r"))
    await workers.delete("r")
    nothing: Any = None
    report = await found.perform(WORK, nothing, nothing)
    (agent,) = await runtime.list()
    assert report.data == {"by": agent.id} and agent.id != found.agent_id


async def test_work_whose_agent_is_deleted_half_way_is_not_begun_again(runtime: Working) -> None:
    workers = WorkerAgents(runtime)
    runtime.gone_after = 1
    nothing: Any = None
    performer = await workers.performer(own_task("r"))
    with pytest.raises(TaskError) as raised:
        await performer.perform(WORK, nothing, lambda _event: None)
    assert raised.value.error == "DCF.AgentUnavailable"
    assert await runtime.list() == ()
