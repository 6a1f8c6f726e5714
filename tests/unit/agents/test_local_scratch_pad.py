"""The scratch pad of a turn: before the model until it answers, and nowhere afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from local_world import LocalWorld, local_world
from runtime_world import Calls, Says

from dcf.agents import TaskError
from dcf.memory import Actor, NewAgent

BY = Actor("user", "ada")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LocalWorld]:
    async with local_world(tmp_path, summaries="rule") as opened:
        yield opened


@pytest.fixture
async def scout(world: LocalWorld) -> str:
    return (await world.runtime.create(NewAgent("scout"), (), by=BY)).id


async def test_what_a_model_notes_stands_before_it_until_it_answers(
    world: LocalWorld, scout: str
) -> None:
    world.script(
        Calls("scratch_pad_write", {"content": "three apples"}),
        Calls("scratch_pad_write", {"content": "two pears", "append": True}),
        Says("Five fruits."),
        Says("Yes."),
    )
    reply = await world.runtime.send(scout, "Count.")
    assert reply.text == "Five fruits."
    first, second, third = world.prompts()
    assert "three apples" not in first
    assert "three apples" in second
    assert "three apples\\ntwo pears" in third
    (pad,) = await world.memory.scratch_pads.list(scout)
    assert (pad.outcome, pad.value, pad.writes) == ("done", "", 2)
    await world.runtime.send(scout, "Sure?")
    assert "three apples" not in world.prompts()[-1]
    assert not [one for one in await world.runtime.messages(scout) if "apples" in str(one.parts)], (
        "the conversation says that it wrote, not what"
    )
    assert await world.memory.search.find("apples", agent_ids=[scout], kinds=("block",)) == ()


async def test_the_pad_of_a_turn_that_fails_is_gone_too(world: LocalWorld, scout: str) -> None:
    world.script(
        Calls("scratch_pad_write", {"content": "three apples"}),
        TaskError("DCF.ModelUnavailable", "the line is dead"),
    )
    with pytest.raises(TaskError):
        await world.runtime.send(scout, "Count.")
    (pad,) = await world.memory.scratch_pads.list(scout)
    assert (pad.outcome, pad.value) == ("failed", "")


async def test_a_pad_that_would_be_too_large_is_refused_to_the_model(
    world: LocalWorld, scout: str
) -> None:
    world.script(
        Calls("scratch_pad_write", {"content": "x" * 20_000}),
        Says("Too much."),
    )
    await world.runtime.send(scout, "Count.")
    assert "memory_scratch_pad_full" in world.prompts()[-1]
    assert "xxxxxxxx" not in world.prompts()[-1]
