"""Results that are passed on: a task gets those of the tasks that it follows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from contract.worlds import open_world
from integration.sessions.conducting import ID, ME, Stage

from control_plane import JSON
from dcf.sessions import NewCompanion, Order
from dcf.workflow import Succeeded


@pytest.fixture
async def stage(redis_server: str) -> AsyncIterator[Stage]:
    world = await open_world(redis_server)
    stage = Stage(world)
    await stage.begin()
    await stage.sessions.employ(ID, NewCompanion(ME, name="a"))
    await stage.sit()
    yield stage
    await world.close()


async def given(stage: Stage, result: JSON, value: JSON, *, follows: bool = True) -> JSON:
    """What a task gets whose input is ``value``, after the task ``t1`` that put out ``result``."""
    await stage.sessions.delegate(ID, Order("first", ME, task_id="t1"))
    after = ("t1",) if follows else ()
    await stage.sessions.delegate(ID, Order("second", ME, task_id="t2", after=after, input=value))
    await stage.do("t1", Succeeded(result, "done"))
    state = (await stage.sessions.store.states("t2", ["task"]))["task"]
    return await stage.sessions.store.value("t2", state.raw["input"])


async def test_a_reference_to_a_task_that_it_follows_is_its_result(stage: Stage) -> None:
    value = {"a": ["dcf://run/t1", "see dcf://run/t1"], "b": {"c": "dcf://run/t1"}}
    assert await given(stage, {"n": 7}, value) == {
        "a": [{"n": 7}, "see dcf://run/t1"], "b": {"c": {"n": 7}}
    }  # fmt: skip


async def test_a_large_result_stays_a_reference(stage: Stage) -> None:
    assert await given(stage, "x" * 70_000, "dcf://run/t1") == "dcf://run/t1"


async def test_a_reference_to_a_task_that_it_does_not_follow_is_left_alone(stage: Stage) -> None:
    assert await given(stage, 7, "dcf://run/t1", follows=False) == "dcf://run/t1"
