"""What holds for every consolidation of whatever an agent remembers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from campaigns import REMEMBERED, settled
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import Actor, Memory, NewAgent, NewBlock, NewMessage, NewPassage, Source
from dcf.memory.consolidation import ConsolidationSettings, Consolidator, Write, Written
from dcf.memory.consolidation.facts import facts
from dcf.memory.consolidation.lines import bare

pytestmark = settled(*REMEMBERED)

DAY = 86_400_000
BY = Actor("user", "ada")

LINES = st.one_of(
    st.sampled_from(
        [
            "",
            "# Tea",
            "Monday:",
            "- Ada likes green tea.",
            "* Ada likes  green tea",
            "Ada also likes the green tea",
            "Ada never likes green tea",
            "  - under Ada it says 12 more",
            "```",
            "yes",
        ]
    ),
    st.builds("The port of service s{} is {}.".format, st.integers(0, 5), st.integers(1, 3)),
    st.builds("{} was at {}:00 in Oslo; {} was not.".format, *[st.sampled_from("ABC")] * 3),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400),
)
TEXTS = st.lists(LINES, max_size=25).map("\n".join)


class World(NamedTuple):
    """What an agent remembers, how many days ago its messages were said, and how far to go."""

    blocks: list[str]
    passages: list[str]
    messages: list[tuple[str, int]]
    window: int
    level: int
    target: int
    answer: str | None


WORLDS = st.builds(
    World,
    st.lists(TEXTS, min_size=1, max_size=4),
    st.lists(TEXTS.filter(str.strip), max_size=5),
    st.lists(st.tuples(TEXTS, st.integers(0, 20)), max_size=12),
    st.sampled_from([600, 2000, 100_000]),
    st.integers(0, 9),
    st.integers(100, 1500),
    st.none() | TEXTS,
)


@settings(max_examples=40, deadline=None)
@given(WORLDS)
def test_nothing_is_lost_nothing_grows_once_is_enough_and_all_can_be_undone(world: World) -> None:
    asyncio.run(_holds(world))


async def _holds(world: World) -> None:
    clock = Ticking()
    with tempfile.TemporaryDirectory() as folder:
        source = Source(Path(folder) / "m.db")
        async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as memory:
            await _fill(memory, clock, world)
            before, sizes = await _content(memory), await _sizes(memory)
            consolidator = Consolidator(memory, write=_write(world.answer), settings=_how(world))

            session = await consolidator.run("anna")
            left = await _said(memory)
            for text in (*world.blocks, *world.passages):
                for line in filter(facts, text.split("\n")):
                    assert bare(line) in left, "it is neither in a block nor in the archive"
            for label, size in (await _sizes(memory)).items():
                assert size <= sizes[label]
            assert session.after.efficiency <= 1

            again = await consolidator.run("anna")
            assert again.changes == ()

            if session.changes:
                await consolidator.rollback(session.id, by=BY)
            assert await _content(memory) == before
            assert await memory.check() == ()


async def _fill(memory: Memory, clock: Ticking, world: World) -> None:
    new = NewAgent("anna", context_window=world.window)
    blocks = [NewBlock(f"b{number}", text) for number, text in enumerate(world.blocks)]
    await memory.agents.create(new, by=BY, agent_id="anna", blocks=blocks)
    await memory.passages.insert("anna", *map(NewPassage, world.passages), by=BY)
    clock.now += 40 * DAY
    said = [NewMessage("user", text) for text, _ in world.messages]
    ages = sorted((days for _, days in world.messages), reverse=True)
    at = [clock.now - days * DAY for days in ages]
    await memory.messages.append("anna", *said, by=BY, created_at=at)


def _how(world: World) -> ConsolidationSettings:
    return ConsolidationSettings(
        level=world.level, target_block_bytes=world.target, keep_messages=2
    )


def _write(answer: str | None) -> Write | None:
    async def write(prompt: str, tokens: int) -> Written:
        return Written(answer or "", 1)

    return None if answer is None else write


async def _content(memory: Memory) -> Sequence[object]:
    blocks = [(one.id, one.label, one.value) for one in await memory.blocks.list("anna")]
    messages = await memory.messages.list("anna", limit=1000)
    return blocks, messages, await memory.passages.list("anna", limit=1000)


async def _sizes(memory: Memory) -> dict[str, int]:
    return {one.label: len(one.value.encode()) for one in await memory.blocks.list("anna")}


async def _said(memory: Memory) -> str:
    """All blocks and passages, a line each without marks and spaces that do not matter."""
    texts = [one.value for one in await memory.blocks.list("anna")]
    texts += [one.text for one in await memory.passages.list("anna", limit=1000)]
    return "\n".join(
        f"{bare(line)}\n{' '.join(line.split())}" for text in texts for line in text.split("\n")
    )
