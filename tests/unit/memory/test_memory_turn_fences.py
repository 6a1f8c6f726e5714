"""A turn that belongs to other work is under the fence of that work: whoever lost the work can
neither begin a turn nor change anything inside one."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from campaigns import REMEMBERED, settled
from hypothesis import given
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import (
    SYSTEM,
    Letter,
    Memory,
    MemoryProblem,
    NewAgent,
    NewBlock,
    NewLetter,
    NewMessage,
    NewPassage,
    Source,
    TurnFence,
    TurnFenced,
    TurnLost,
    TurnRecord,
    TurnUnderWay,
    Usage,
)

pytestmark = settled(*REMEMBERED)

LEASE_MS = 1_000
STATE, OTHER = "run/A/1", "run/B/1"


class World:
    """A memory with one agent, and with one that gets letters."""

    def __init__(self, memory: Memory, clock: Ticking, agent_id: str, to: str) -> None:
        self.memory, self.clock, self.agent_id, self.to = memory, clock, agent_id, to

    async def begin(self, fence: TurnFence | None, *, letter: Letter | None = None) -> TurnRecord:
        words = "no fence" if fence is None else f"{fence.holder} {fence.number}"
        asked = NewMessage("user", words)
        return await self.memory.turns.begin(
            self.agent_id, asked, by=SYSTEM, lease_ms=LEASE_MS, fence=fence, letter=letter
        )

    async def answer(self, turn: TurnRecord, text: str = "Done.") -> None:
        said = NewMessage("assistant", text)
        await self.memory.turns.answer(turn, said, by=SYSTEM, model="m", usage=Usage())

    async def seen(self) -> object:
        """All that a change inside a turn could have changed."""
        memory = self.memory
        blocks = [(block.label, block.value) for block in await memory.blocks.list(self.agent_id)]
        letters = await memory.letters.list(self.to)
        turns = [(turn.id, turn.state) for turn in await memory.turns.list(self.agent_id)]
        messages = [one.content for one in await memory.messages.list(self.agent_id)]
        passages = await memory.passages.list(self.agent_id)
        return blocks, [one.id for one in letters], turns, messages, [one.text for one in passages]


@asynccontextmanager
async def a_world(folder: Path) -> AsyncIterator[World]:
    clock = Ticking()
    source = Source(folder / "memory.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
        agent = await memory.agents.create(NewAgent("one"), by=SYSTEM)
        await memory.blocks.create(agent.id, NewBlock("notes", "First."), by=SYSTEM)
        other = await memory.agents.create(NewAgent("two"), by=SYSTEM)
        yield World(memory, clock, agent.id, other.id)
        assert await memory.check() == ()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with a_world(tmp_path) as world:
        yield world


Change = Callable[[World, Memory], Awaitable[object]]


async def _append(world: World, memory: Memory) -> object:
    return await memory.blocks.append(world.agent_id, "notes", "Second.", by=SYSTEM)


async def _say(world: World, memory: Memory) -> object:
    return await memory.messages.append(world.agent_id, NewMessage("user", "Late."), by=SYSTEM)


async def _archive(world: World, memory: Memory) -> object:
    return await memory.passages.insert(world.agent_id, NewPassage("Late."), by=SYSTEM)


async def _write_to(world: World, memory: Memory) -> object:
    new = NewLetter(world.to, world.agent_id, "Late.", "c", 60_000)
    return await memory.letters.leave(new, by=SYSTEM)


CHANGES: tuple[Change, ...] = (_append, _say, _archive, _write_to)


async def test_a_later_holder_takes_the_turn_over_at_once(world: World) -> None:
    first = await world.begin(TurnFence(STATE, 1))
    second = await world.begin(TurnFence(STATE, 2))
    ended = await world.memory.turns.get(first.id)
    assert ended is not None and ended.state == "failed"
    assert ended.cause == f"{STATE} was taken over"
    await world.answer(second)


async def test_an_earlier_holder_cannot_begin_nor_end_the_turn_of_a_later_one(
    world: World,
) -> None:
    later = await world.begin(TurnFence(STATE, 2))
    before = await world.seen()
    with pytest.raises(TurnFenced):
        await world.begin(TurnFence(STATE, 1))
    assert await world.seen() == before
    await world.answer(later)
    with pytest.raises(TurnFenced):
        await world.begin(TurnFence(STATE, 1))


@pytest.mark.parametrize("change", CHANGES)
async def test_what_is_done_inside_a_turn_needs_the_turn(world: World, change: Change) -> None:
    first = await world.begin(TurnFence(STATE, 1))
    within = world.memory.within(first)
    await change(world, within)
    await world.begin(TurnFence(STATE, 2))
    before = await world.seen()
    with pytest.raises(TurnLost):
        await change(world, within)
    assert await world.seen() == before


@pytest.mark.parametrize("change", CHANGES)
async def test_a_turn_that_was_silent_too_long_changes_nothing(
    world: World, change: Change
) -> None:
    within = world.memory.within(await world.begin(None))
    world.clock.now += LEASE_MS
    await world.begin(None)
    before = await world.seen()
    with pytest.raises(TurnLost):
        await change(world, within)
    assert await world.seen() == before


async def test_the_same_holder_may_begin_again(world: World) -> None:
    """Its worker gave up half way, and the lease is the same."""
    await world.begin(TurnFence(STATE, 1))
    await world.answer(await world.begin(TurnFence(STATE, 1)))


async def test_another_holder_waits_as_anybody_does(world: World) -> None:
    await world.begin(TurnFence(STATE, 1))
    with pytest.raises(TurnUnderWay):
        await world.begin(TurnFence(OTHER, 5))
    with pytest.raises(TurnUnderWay):
        await world.begin(None)


async def test_an_agent_is_lent_to_one_holder(world: World) -> None:
    await world.memory.agents.tag(world.agent_id, add=["busy:B"], by=SYSTEM)
    with pytest.raises(TurnFenced):
        await world.begin(TurnFence(STATE, 1, lent="busy:A"))
    lent = await world.begin(TurnFence(OTHER, 1, lent="busy:B"))
    await world.memory.agents.tag(world.agent_id, add=["busy:A"], remove=["busy:B"], by=SYSTEM)
    # Whoever had it before is not waited for, and changes nothing any more.
    await world.begin(TurnFence(STATE, 1, lent="busy:A"))
    with pytest.raises(TurnLost):
        await world.answer(lent)


async def test_a_turn_that_was_taken_back_changes_nothing(world: World) -> None:
    within = world.memory.within(await world.begin(TurnFence(STATE, 1)))
    # As a rollback to before it does.
    await world.memory.ledger.database.write(
        lambda connection: connection.execute("DELETE FROM turns")
    )
    before = await world.seen()
    with pytest.raises(TurnLost):
        await _write_to(world, within)
    assert await world.seen() == before


async def test_a_clock_that_was_wrong_blocks_nobody(world: World) -> None:
    world.clock.now += 3_600_000
    await world.begin(None)
    world.clock.now -= 3_600_000
    await world.answer(await world.begin(None))


async def test_a_later_try_of_a_letter_takes_its_turn_over(world: World) -> None:
    new = NewLetter(world.agent_id, "ada", "Well?", "c", 60_000)
    await world.memory.letters.leave(new, by=SYSTEM)
    taken = await world.memory.letters.take(by=SYSTEM, lease_ms=LEASE_MS)
    first = await world.begin(None, letter=taken)
    world.clock.now += LEASE_MS
    again = await world.memory.letters.take(by=SYSTEM, lease_ms=LEASE_MS)
    second = await world.begin(None, letter=again)
    assert second.id == first.id
    before = await world.seen()
    with pytest.raises(TurnLost):
        await _append(world, world.memory.within(first))
    with pytest.raises(TurnLost):
        await world.begin(None, letter=taken)
    assert await world.seen() == before
    await _append(world, world.memory.within(second))


@given(
    st.lists(
        st.tuples(st.sampled_from(["begin", "write", "answer"]), st.integers(1, 4)), max_size=12
    )
)
def test_in_whatever_order_only_the_latest_holder_that_began_has_an_effect(
    steps: list[tuple[str, int]],
) -> None:
    """The steps of holders 1 to 4 of one state, each of which believes that it is the only one."""

    async def follow(folder: Path) -> None:
        async with a_world(folder) as world:
            turns: dict[int, TurnRecord] = {}
            newest, answered = 0, False
            said: list[str] = []
            for step, number in steps:
                may = number == newest and not answered
                try:
                    if step == "begin":
                        may = number >= newest
                        turns[number] = await world.begin(TurnFence(STATE, number))
                        newest, answered = number, False
                        said.append(f"{STATE} {number}")
                    elif number in turns and step == "write":
                        said_now = NewMessage("user", f"of {number}")
                        memory = world.memory.within(turns[number])
                        await memory.messages.append(world.agent_id, said_now, by=SYSTEM)
                        said.append(f"of {number}")
                    elif number in turns:
                        await world.answer(turns[number], f"end of {number}")
                        answered = True
                        said.append(f"end of {number}")
                    else:
                        continue
                    assert may
                except (TurnFenced, TurnLost) as refused:
                    assert not may, refused
                except MemoryProblem as problem:
                    raise AssertionError(problem) from problem
            messages = await world.memory.messages.list(world.agent_id, limit=100)
            assert [one.content for one in messages] == said

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(follow(Path(folder)))
