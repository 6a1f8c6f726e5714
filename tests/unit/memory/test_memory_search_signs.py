"""The index of meanings: it holds the signs of the vectors, and all of a scope is found by it."""

from __future__ import annotations

import itertools
import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    Filter,
    Memory,
    NewAgent,
    NewMessage,
    NewObservation,
    NewPassage,
    Origin,
    Source,
)
from dcf.memory.database import Connection, migrate
from dcf.memory.database.migrations.v0016_signs import STEP
from dcf.memory.search import meaning, scope, signs
from dcf.memory.search import nearest as nearest_module
from dcf.memory.search import search as search_module
from dcf.memory.search.nearest import Nearest
from dcf.memory.search.place import bounds, range_of
from dcf.memory.search.scope import Scope, Stretch
from dcf.memory.search.signs import Chunk, bits_of, chunk_of

SIZE = 70
"""Numbers of a vector: not a multiple of what is packed together."""

_places = st.integers(0, 20).map(lambda number: (number % 3 << 32) + number)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sets(_places, min_size=1)),
        st.tuples(st.just("drop"), st.sets(_places, min_size=1, max_size=1)),
    )
)


def _vector(seed: int) -> list[float]:
    chance = random.Random(seed)
    return [chance.uniform(-1, 1) for _ in range(SIZE)]


def _numbers(vector: list[float]) -> list[int]:
    """The signs as numbers of 64 bits, written down bit by bit."""
    total = sum(1 << place for place, one in enumerate(vector) if one > 0)
    return [total & (1 << 64) - 1, total >> 64]


def _held(connection: Connection) -> dict[int, list[int]]:
    rows = connection.execute("SELECT places, bits FROM search_signs ORDER BY first").fetchall()
    chunks = [signs.chunk_of(tuple(row)) for row in rows]
    assert all(0 < len(chunk.places) <= signs._MOST for chunk in chunks)
    places = [place for chunk in chunks for place in chunk.places.tolist()]
    assert places == sorted(places)
    return dict(zip(places, [row for one in chunks for row in one.bits.T.tolist()], strict=True))


@settings(max_examples=50, deadline=None)
@given(_steps)
def test_the_index_holds_the_signs_of_the_last_vector_of_each_place(
    steps: list[tuple[str, set[int]]],
) -> None:
    kept: dict[int, list[float]] = {}
    with pytest.MonkeyPatch.context() as patch, closing(sqlite3.connect(":memory:")) as memory:
        patch.setattr(signs, "_MOST", 4)
        patch.setattr(nearest_module, "_TOGETHER", 3)
        for change in STEP.up:
            assert isinstance(change, str)
            memory.execute(change)
        # One that holds all, and one that holds two or three chunks.
        readers = Nearest(), Nearest(150)
        for number, (what, places) in enumerate(steps):
            if what == "drop":
                (place,) = places
                kept.pop(place, None)
                signs.drop(memory, place)
            else:
                new = {place: _vector(number * 100 + place % 100) for place in sorted(places)}
                kept |= new
                bits = bits_of(np.array(list(new.values())))
                signs.put(memory, Chunk(np.array(list(new)), bits))
            assert _held(memory) == {place: _numbers(one) for place, one in sorted(kept.items())}
            _compare(memory, (*readers, Nearest(0)), kept)


def _compare(
    memory: Connection, readers: Sequence[Nearest], kept: Mapping[int, list[float]]
) -> None:
    """What is held from before, and nothing held at all, give the same: by hand."""
    stretches = (Stretch(2, 9), Stretch(*bounds(range_of(0, "passage"))))
    asked = _numbers(_vector(-1))
    inside = {
        place: sum(
            (one ^ other).bit_count() for one, other in zip(_numbers(it), asked, strict=True)
        )
        for place, it in sorted(kept.items())
        if any(one.first <= place <= one.last for one in stretches)
    }
    where = Scope(stretches, len(kept), {"message": 1.0, "passage": 1.0})
    for reader in readers:
        found = reader.distances(memory, np.array(_vector(-1)), where)
        held = [one.chunk for one in reader._held.values()]
        assert reader._bytes == sum(map(nearest_module._bytes, held)) <= reader._most_bytes
        pairs = [zip(*map(np.ndarray.tolist, part), strict=True) for part in found.parts]
        assert dict(itertools.chain.from_iterable(pairs)) == inside
        nearest_first = sorted(inside, key=lambda place: (inside[place], place))
        for many in (1, 3, len(inside), 2 * len(inside) + 1):
            assert found.nearest(many).tolist() == nearest_first[:many]


@pytest.mark.parametrize(("fitting", "read"), [(100, 0), (30, 10)])
def test_what_is_held_is_held_together_and_nothing_is_read_for_it(
    monkeypatch: pytest.MonkeyPatch, fitting: int, read: int
) -> None:
    """40 chunks of one place (8 bytes, 16 of signs), of which ``fitting`` have room: a search reads
    the others, each once, and once the first of all is gone no search joins what cannot be."""
    monkeypatch.setattr(signs, "_MOST", 1)
    reads: list[object] = []
    monkeypatch.setattr(nearest_module, "chunk_of", lambda row: reads.append(0) or chunk_of(row))
    first = bounds(range_of(0, "passage"))[0]
    with closing(sqlite3.connect(":memory:")) as memory:
        for change in STEP.up:
            assert isinstance(change, str)
            memory.execute(change)
        places = np.arange(first, first + 40)
        signs.put(memory, Chunk(places, bits_of(np.array([_vector(one) for one in range(40)]))))
        where = Scope((Stretch(*bounds(range_of(0, "passage"))),), 40, {"passage": 1.0})
        nearest = Nearest(24 * fitting)

        def parts() -> list[int]:
            found = nearest.distances(memory, np.array(_vector(-1)), where)
            return [len(part) for part, _ in found.parts]

        assert sum(parts()) == len(reads) == 40
        for _ in range(2):
            reads.clear()
            assert parts() == ([16, 16, *[1] * 8] if read == 0 else [16, *[1] * 24])
            assert len(reads) == read
        signs.drop(memory, first)
        left = parts()
        assert left == [15, 16, *[1] * 8] if read == 0 else sum(left) == 39
        monkeypatch.setattr(np, "concatenate", lambda *_, **__: pytest.fail("joined again"))
        parts()


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every scope is too large to compare all of it, and few texts are compared."""
    monkeypatch.setattr(scope, "_NARROW", 0)
    monkeypatch.setattr(meaning, "_COMPARED", 4)


def _seen(number: int, text: str, **more: object) -> NewObservation:
    known = {"project": "here", "narrative": text, "workflow": "", **more}
    return NewObservation("discovery", f"{number}", Origin("thread", f"{number}"), **known)  # type: ignore[arg-type]


QUERY = "puppies and kittens"
FOUND = "our dog and the cat are ill"
BETTER = "a puppy with another puppy, a kitten with another kitten"


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    ("better", "asked"),
    [
        ({"project": "elsewhere"}, {"projects": ["here"]}),
        ({"workflow": "other"}, {"workflows": ["mine"]}),
        ({"at": 1}, {"since": 2}),
        ({"concepts": ("gotcha",)}, {"concepts": ["pattern"]}),
    ],
    ids=["project", "workflow", "time", "concept"],
)
async def test_what_is_asked_for_is_found_behind_any_number_that_is_not(
    memory: Memory, by: Actor, better: Mapping[str, object], asked: Mapping[str, object]
) -> None:
    mine = _seen(0, FOUND, workflow="mine", concepts=("pattern",))
    others = [_seen(number, BETTER, **better) for number in range(1, 200)]
    await memory.observations.add(mine, *others, by=by)
    await memory.search.catch_up()
    found = await memory.search.find(QUERY, k=1, **asked)  # type: ignore[arg-type]
    assert [(one.text, one.words) for one in found] == [(f"0\n{FOUND}", 0.0)]


@pytest.mark.usefixtures("wide")
async def test_kinds_and_roles_are_found_behind_any_number_of_others(
    memory: Memory, by: Actor
) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=())
    await memory.observations.add(*(_seen(one, BETTER) for one in range(50)), by=by)
    said = [NewMessage("user", BETTER) for _ in range(50)]
    await memory.messages.append(agent.id, *said, NewMessage("assistant", FOUND), by=by)
    await memory.search.catch_up()
    assert (await memory.search.find(QUERY, k=1))[0].text.endswith(BETTER)
    (message,) = await memory.search.find(QUERY, k=1, kinds=["message"], roles=["assistant"])
    assert message.text == FOUND
    (message,) = await memory.search.find(QUERY, k=1, kinds=["message"])
    assert message.kind == "message"


async def test_a_wide_scope_ranks_as_a_narrow_one(
    memory: Memory, by: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all that is there is compared, no signs are needed; by them the same comes out."""
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=())
    animals = ("dog", "cat", "horse", "cow", "hen", "duck")
    said = [f"the {one} and the {other} met" for one in animals for other in animals]
    await memory.messages.append(agent.id, *(NewMessage("user", one) for one in said), by=by)
    await memory.search.catch_up()

    async def ranked() -> list[tuple[str, float | None]]:
        found = await memory.search.find(QUERY, agent_ids=[agent.id], kinds=["message"])
        return [(one.ref, one.similarity) for one in found]

    narrow = await ranked()
    assert len(narrow) == 10
    monkeypatch.setattr(scope, "_NARROW", 0)
    assert await ranked() == narrow


async def test_signs_are_not_looked_at_where_words_decide_all_of_the_answer(
    memory: Memory, by: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that says no word of the query cannot be as near as to come before these."""
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=())
    said = [NewPassage(f"puppies and kittens, day {number}") for number in range(9)]
    others = [NewPassage(f"{FOUND} {number}") for number in range(40)]
    await memory.passages.insert(agent.id, *said, *others, by=by)
    await memory.search.catch_up()

    async def ranked(k: int) -> list[tuple[str, float]]:
        found = await memory.search.find(QUERY, k=k, agent_ids=[agent.id], kinds=["passage"])
        return [(one.ref, one.score) for one in found]

    narrow = {k: await ranked(k) for k in (2, 20)}
    monkeypatch.setattr(scope, "_NARROW", 0)
    looks: list[int] = []
    distances = Nearest.distances

    def counted(self: Nearest, *given: Any) -> Any:
        looks.append(1)
        return distances(self, *given)

    monkeypatch.setattr(Nearest, "distances", counted)
    assert await ranked(2) == narrow[2] and not looks
    assert await ranked(20) == narrow[20] and looks


@pytest.mark.usefixtures("wide")
async def test_what_is_not_looked_at_would_not_have_been_among_the_best(
    memory: Memory, by: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any texts, salience and questions: the answer is that of a search that looks at all."""
    chance = random.Random(7)
    animals = ("dog", "puppy", "cat", "kitten", "horse", "pony", "cow", "calf", "hen", "chicken")
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=())
    others = [
        "rust",
        "iron",
        "tax",
        "valve",
        "fuse",
        "ledger",
        "motor",
        "invoice",
        "bolt",
        "gasket",
        "steel",
        "audit",
    ]
    said = []
    for number in range(80):
        # One of two says its animals among much else: words find it, and it is not near.
        rest = chance.choices(others, k=30) if number % 2 else []
        text = " ".join((*chance.choices(animals, k=chance.randint(1, 3)), *rest))
        said.append(NewPassage(f"{text} {number}", salience=chance.random()))
    await memory.passages.insert(agent.id, *said, by=by)
    await memory.search.catch_up()
    looks: list[int] = []
    distances = Nearest.distances

    def counted(self: Nearest, *given: Any) -> Any:
        looks.append(1)
        return distances(self, *given)

    monkeypatch.setattr(Nearest, "distances", counted)
    skipped = 0
    for _ in range(60):
        query = " ".join(chance.sample(animals, chance.randint(1, 3)))
        k = chance.choice((1, 2, 5, 20))
        find = partial(memory.search.find, query, k=k, agent_ids=[agent.id], kinds=["passage"])
        looks.clear()
        found = {one.ref: one.score for one in await find()}
        skipped += not looks
        with monkeypatch.context() as patch:
            patch.setattr(search_module, "_enough", lambda *_: None)
            every = {one.ref: one.score for one in await find()}
            # Products of matrices of another size end with another last digit.
            assert every == pytest.approx(found, abs=1e-6), (query, k)
    assert 10 < skipped < 60


@pytest.mark.usefixtures("wide")
async def test_what_another_process_writes_is_found(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    async def first() -> str:
        return (await memory.search.find(QUERY, k=1))[0].text

    await memory.observations.add(*(_seen(one, "rust and iron") for one in range(9)), by=by)
    await memory.observations.add(_seen(10, FOUND), by=by)
    assert FOUND in await first()
    async with Memory.open(
        memory.ledger.database.source, clock=clock, new_id=lambda kind: f"{kind}-other"
    ) as other:
        await other.observations.add(_seen(11, "a puppy and a kitten"), by=by)
        await other.search.catch_up()
        assert "a puppy" in await first()
        await other.observations.forget(Filter(ids=["observation-other"]), by=by)
        assert FOUND in await first()


@pytest.mark.usefixtures("wide")
async def test_meanings_are_found_in_an_encrypted_memory(
    tmp_path: Path, by: Actor, clock: Ticking
) -> None:
    source = Source(tmp_path / "m.db", "key")
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        await memory.observations.add(_seen(0, FOUND), by=by)
        others = [_seen(number, BETTER, project="elsewhere") for number in range(1, 50)]
        await memory.observations.add(*others, by=by)
        await memory.search.catch_up()
        (found,) = await memory.search.find(QUERY, k=1, projects=["here"])
        assert found.text == f"0\n{FOUND}"
        assert await memory.check() == ()


async def test_a_file_of_the_version_before_is_indexed_anew_with_signs(
    tmp_path: Path, by: Actor, clock: Ticking
) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        await memory.observations.add(*(_seen(one, f"plum {one}") for one in range(5)), by=by)
        await memory.search.catch_up()
    with closing(source.connect()) as connection:
        migrate(connection, source.path, to=15)
        assert connection.execute("SELECT form FROM search_state").fetchone()[0] < 5
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        assert await memory.search.catch_up() == 5
        assert len(await memory.ledger.read(_held)) == 5
        assert await memory.check() == ()
