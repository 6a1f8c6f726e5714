"""Observations that leave one memory as lines and come into another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaigns import REMEMBERED, settled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_world import Ticking

from dcf.memory import (
    CONCEPTS,
    TYPES,
    Actor,
    ArrivingObservation,
    Artifact,
    InvalidEntry,
    Memory,
    NewObservation,
    Occurrence,
    Origin,
    Source,
    TakenIn,
    Texts,
    line_of,
    random_id,
    read_line,
)

pytestmark = settled(*REMEMBERED)

BY = Actor("user", "ada")
TEXTS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
FILLED = TEXTS.filter(str.strip)
NAMES = st.text("abc/.é🎉", min_size=1, max_size=6)
TIMES = st.integers(0, 4_000_000_000_000)
ORIGINS = st.builds(
    Origin, NAMES, NAMES, st.none() | st.integers(0, 9), st.none() | st.sampled_from(["Pay", "é"])
)
NEW = st.builds(
    NewObservation,
    st.sampled_from(TYPES),
    FILLED.filter(lambda text: len(text.splitlines()) == 1),
    ORIGINS,
    project=st.sampled_from(["", "/shop"]),
    workflow=st.sampled_from(["", "orders"]),
    subtitle=TEXTS,
    facts=st.lists(FILLED, max_size=3).map(tuple),
    narrative=TEXTS,
    concepts=st.lists(st.sampled_from(CONCEPTS), max_size=2).map(tuple),
    artifacts=st.lists(
        st.builds(Artifact, st.sampled_from(["file", "url"]), FILLED, st.none() | st.just("read")),
        max_size=2,
    ).map(tuple),
    related=st.lists(FILLED, max_size=2).map(tuple),
    at=TIMES,
    extracted=st.booleans(),
)
SEEN = st.lists(st.tuples(ORIGINS, TEXTS, TIMES), max_size=3)
GIVEN = st.lists(st.tuples(NEW, SEEN), max_size=4)
CAMPAIGN = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def open_memory(folder: str | Path, name: str) -> Memory:
    return Memory.open(Source(Path(folder, name)), clock=Ticking(), new_id=random_id)


async def lines_of(memory: Memory) -> list[str]:
    return [line_of(record) async for record in memory.observations.records()]


async def bring(memory: Memory, lines: Sequence[str | bytes]) -> TakenIn:
    """As the command does: what is no whole line is left out."""
    arriving = []
    for line in lines:
        with suppress(InvalidEntry):
            arriving.append(read_line(line if isinstance(line, bytes) else line.encode())[0])
    return await memory.observations.take_in(*arriving, by=BY)


@CAMPAIGN
@given(GIVEN, st.floats(0, 1))
def test_an_empty_memory_gets_the_same_lines_and_a_cut_file_what_was_whole(
    given_: list[tuple[NewObservation, list[tuple[Origin, str, int]]]], cut: float
) -> None:
    async def check() -> None:
        with TemporaryDirectory() as folder:
            async with open_memory(folder, "a.db") as memory:
                for number, (new, seen) in enumerate(given_):
                    if not seen:
                        await memory.observations.add(new, by=BY)
                    for origin, note, at in seen:
                        told = replace(new, origin=origin, note=note, at=at)
                        await memory.observations.observe(origin, f"{number}", told, by=BY)
                first = await memory.observations.list(limit=1)
                await memory.observations.pin(*(one.id for one in first), by=BY)
                lines = await lines_of(memory)
                assert sum('"pinned":true' in line for line in lines) == len(first)
                assert await bring(memory, lines) == TakenIn(known=len(lines))
                assert await lines_of(memory) == lines
            async with open_memory(folder, "b.db") as memory:
                assert await bring(memory, lines) == TakenIn(new=len(lines))
                assert await lines_of(memory) == lines
                assert await memory.check() == ()
            file = "".join(f"{line}\n" for line in lines).encode()
            left = file[: round(cut * len(file))]
            async with open_memory(folder, "c.db") as memory:
                await bring(memory, left.split(b"\n"))
                whole = lines[: left.count(b"\n")]
                assert (await lines_of(memory))[: len(whole)] == whole

    asyncio.run(check())


ONE = NewObservation("bugfix", "Busy", Origin("run", "r1"), workflow="orders", project="/shop")


async def test_what_both_know_is_counted_once_with_the_sources_of_both(tmp_path: Path) -> None:
    async def seen_in(memory: Memory, *runs: str) -> None:
        for at, run in enumerate(runs):
            told = replace(ONE, origin=Origin("run", run), at=at)
            await memory.observations.observe(Origin("run", run), "1", told, by=BY)

    async with open_memory(tmp_path, "a.db") as memory:
        await seen_in(memory, "r1", "r2", "r3")
        lines = await lines_of(memory)
    async with open_memory(tmp_path, "b.db") as memory:
        await seen_in(memory, "r3", "r4")
        (before,) = await memory.observations.list()
        assert await bring(memory, lines) == TakenIn(seen_again=1)
        (record,) = [one async for one in memory.observations.records()]
        assert {one.origin.source_id for one in record.seen} == {"r1", "r2", "r3", "r4"}
        # A source that both know stands as it stood here.
        assert (record.observation.times, record.observation.at) == (4, 1)
        assert (record.observation.id, record.observation.origin) == (before.id, before.origin)
        # What a run of this memory has shown is not counted again when it is looked at here.
        await seen_in(memory, "r2")
        assert (await memory.observations.get(before.id)).times == 4
        assert await memory.check() == ()


async def test_what_was_edited_is_known_when_it_comes_back(tmp_path: Path) -> None:
    async with open_memory(tmp_path, "a.db") as memory:
        made = await memory.observations.observe(Origin("run", "r1"), "1", ONE, by=BY)
        assert made is not None
        texts = Texts("Busy at noon", ONE.subtitle, ("a fact",), ONE.narrative)
        await memory.observations.edit(made[0].id, texts, by=BY)
        lines = await lines_of(memory)
        assert await bring(memory, lines) == TakenIn(known=1)
        assert await lines_of(memory) == lines


async def test_an_id_that_another_one_has_is_not_taken_from_it(tmp_path: Path) -> None:
    async with open_memory(tmp_path, "a.db") as memory:
        (there,) = await memory.observations.add(ONE, by=BY)
        other = ArrivingObservation(replace(ONE, title="Other"), id=there.id)
        assert await memory.observations.take_in(other, by=BY) == TakenIn(new=1)
        titles = {one.title: one.id for one in await memory.observations.list()}
        assert titles["Busy"] == there.id != titles["Other"]


LINE = {
    "dcf_observation": 1,
    "type": "bugfix",
    "title": "Busy",
    "origin": {"source_type": "run", "source_id": "r1"},
    "at": 5,
}


def test_a_line_needs_five_fields_and_unknown_ones_are_named() -> None:
    read, unknown = read_line(json.dumps({**LINE, "mood": "good"}).encode())
    expected = NewObservation("bugfix", "Busy", Origin("run", "r1"), at=5)
    assert (read, unknown) == (ArrivingObservation(expected), ("mood",))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dcf_observation": 2}, "dcf_observation is 2"),
        ({"title": None}, "/title is nothing, not a text"),
        ({"title": 7}, "/title is 7, not a text"),
        ({"at": True}, "/at is True"),
        ({"at": 253_402_214_400_000}, "up to 9999-12-30"),
        ({"at": -1}, "/at is -1"),
        ({"facts": "one"}, "/facts is 'one', not a list"),
        ({"facts": ["a", 1]}, "/facts/1 is 1, not a text"),
        ({"origin": []}, "/origin is [], not an object"),
        ({"origin": {"source_type": "run", "source_id": "r", "turn": "1"}}, "/origin/turn is '1'"),
        ({"artifacts": [{"type": "file"}]}, "/artifacts/0/path is nothing"),
        ({"seen": [{"source_type": "run", "source_id": "r"}]}, "/seen/0/at is nothing"),
        ({"seen": [3]}, "/seen/0 is 3, not an object"),
    ],
)
def test_a_line_of_another_form_is_refused_with_the_place(
    change: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidEntry) as refused:
        read_line(json.dumps({**LINE, **change}).encode())
    assert any(said in one.message for one in refused.value.problems)


@pytest.mark.parametrize("line", [b"{", b"\xff", b"[]", b"7", b"[" * 100_000, b'{"a": 1}'])
def test_what_is_no_line_is_refused(line: bytes) -> None:
    with pytest.raises(InvalidEntry):
        read_line(line)


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (ArrivingObservation(replace(ONE, title="\ud800")), "memory_text_surrogate"),
        (ArrivingObservation(ONE, (Occurrence(Origin("", "r"), "", 1),)), "memory_text_empty"),
        (ArrivingObservation(ONE, (Occurrence(Origin("run", "r"), "\0", 1),)), "memory_text_nul"),
        (ArrivingObservation(ONE, id="observation-zz"), "memory_observation_id"),
        (ArrivingObservation(replace(ONE, type="bug")), "memory_observation_type"),  # type: ignore[arg-type]
    ],
)
async def test_what_no_memory_keeps_is_refused(
    one: ArrivingObservation, code: str, memory: Memory, by: Actor
) -> None:
    with pytest.raises(InvalidEntry) as refused:
        await memory.observations.take_in(one, by=by)
    assert [problem.code for problem in refused.value.problems] == [code]
    assert await memory.observations.list() == ()


async def test_a_source_with_a_slash_is_counted_once(memory: Memory, by: Actor) -> None:
    told = replace(ONE, origin=Origin("a/b", "c/d"))
    for event in ("1", "2"):
        (kept,) = await memory.observations.observe(told.origin, event, told, by=by) or ()
    assert kept.times == 1


async def test_what_is_named_twice_costs_once(memory: Memory, by: Actor) -> None:
    file = Artifact("file", "src/pay.py", "read")
    (twice,) = await memory.observations.add(replace(ONE, artifacts=(file, file)), by=by)
    (once,) = await memory.observations.add(
        replace(ONE, origin=Origin("run", "r2"), artifacts=(file,)), by=by
    )
    assert (twice.artifacts, twice.tokens) == (once.artifacts, once.tokens)
