"""An agent has one turn at a time, and a turn that nobody works on does not block it for long."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    SYSTEM,
    Memory,
    NewAgent,
    NewLetter,
    NewMessage,
    Source,
    TurnFence,
    TurnLost,
    TurnRecord,
    TurnUnderWay,
    Usage,
)

LEASE_MS = 1_000
HELLO = NewMessage("user", "Hello.")


class World:
    def __init__(self, memory: Memory, clock: Ticking, agent_id: str) -> None:
        self.memory, self.clock, self.agent_id = memory, clock, agent_id

    async def begin(self, **more: object) -> TurnRecord:
        return await self.memory.turns.begin(
            self.agent_id, HELLO, by=SYSTEM, lease_ms=LEASE_MS, **more  # type: ignore[arg-type]
        )  # fmt: skip

    async def answer(self, turn: TurnRecord) -> None:
        said = NewMessage("assistant", "Hi.")
        await self.memory.turns.answer(turn, said, by=SYSTEM, model="m", usage=Usage())

    async def state_of(self, turn: TurnRecord) -> str:
        found = await self.memory.turns.get(turn.id)
        assert found is not None
        return found.state


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    clock = Ticking()
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        agent = await memory.agents.create(NewAgent("one"), by=SYSTEM)
        yield World(memory, clock, agent.id)
        assert await memory.check() == ()


async def test_a_second_turn_is_refused_until_the_first_is_over(world: World) -> None:
    first = await world.begin()
    with pytest.raises(TurnUnderWay):
        await world.begin()
    messages = await world.memory.messages.list(world.agent_id)
    assert len(messages) == 1, "what was refused is not in the conversation"
    await world.answer(first)
    await world.begin()


async def test_other_agents_are_not_in_the_way(world: World) -> None:
    await world.begin()
    other = await world.memory.agents.create(NewAgent("two"), by=SYSTEM)
    await world.memory.turns.begin(other.id, HELLO, by=SYSTEM, lease_ms=LEASE_MS)


async def test_a_turn_that_is_kept_stays_and_one_that_is_not_is_over(world: World) -> None:
    first = await world.begin()
    for _ in range(3):
        world.clock.now += LEASE_MS - 100
        await world.memory.turns.keep(first, by=SYSTEM)
    with pytest.raises(TurnUnderWay):
        await world.begin()
    world.clock.now += LEASE_MS
    second = await world.begin()
    assert await world.state_of(first) == "failed"
    with pytest.raises(TurnLost):
        await world.memory.turns.keep(first, by=SYSTEM)
    with pytest.raises(TurnLost):
        await world.answer(first)
    said = [one.role for one in await world.memory.messages.list(world.agent_id)]
    assert said == ["user", "user"], "who was away too long says nothing any more"
    await world.answer(second)


async def test_the_turn_of_a_letter_is_taken_up_again_by_whoever_has_the_letter(
    world: World,
) -> None:
    new = NewLetter(world.agent_id, "ada", "Well?", "c", 60_000)
    await world.memory.letters.leave(new, by=SYSTEM)
    letter = await world.memory.letters.take(by=SYSTEM, lease_ms=LEASE_MS)
    first = await world.begin(letter=letter)
    with pytest.raises(TurnUnderWay):
        await world.begin(fence=TurnFence("run/A", 1))
    world.clock.now += LEASE_MS
    direct = await world.begin()
    again = await world.memory.letters.take(by=SYSTEM, lease_ms=LEASE_MS)
    with pytest.raises(TurnUnderWay):
        await world.begin(letter=again)
    await world.answer(direct)
    second = await world.begin(letter=again)
    assert second.id == first.id and await world.state_of(first) == "running"


async def test_a_turn_that_was_left_is_in_nobodys_way(world: World) -> None:
    new = NewLetter(world.agent_id, "ada", "Well?", "c", 60_000)
    await world.memory.letters.leave(new, by=SYSTEM)
    letter = await world.memory.letters.take(by=SYSTEM, lease_ms=LEASE_MS)
    first = await world.begin(letter=letter)
    await world.memory.turns.leave(first, by=SYSTEM)
    await world.begin()


async def test_the_turn_of_a_letter_that_is_over_ends_with_the_next_turn(world: World) -> None:
    new = NewLetter(world.agent_id, "ada", "Well?", "c", 60_000)
    await world.memory.letters.leave(new, by=SYSTEM)
    letter = await world.memory.letters.take(by=SYSTEM, lease_ms=LEASE_MS)
    assert letter is not None
    turn = await world.begin(letter=letter)
    await world.memory.letters.fail(letter, "States.TaskFailed", "the disk is full", by=SYSTEM)
    world.clock.now += LEASE_MS
    await world.begin()
    assert await world.state_of(turn) == "failed", "nobody takes it up again"


async def test_who_was_away_too_long_does_not_say_how_the_turn_ended(world: World) -> None:
    first = await world.begin()
    world.clock.now += LEASE_MS
    await world.begin()
    await world.memory.turns.fail(first, "Mine", "late", by=SYSTEM, model="m", usage=Usage())
    found = await world.memory.turns.get(first.id)
    assert found is not None and found.error == "DCF.Interrupted"
