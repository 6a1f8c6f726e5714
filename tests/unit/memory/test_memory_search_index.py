"""The index and the rows always agree, whatever was done to the rows."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaigns import REMEMBERED, settled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import (
    SYSTEM,
    Actor,
    Filter,
    Memory,
    MemoryProblem,
    NewAgent,
    NewBlock,
    NewMessage,
    NewObservation,
    NewPassage,
    Origin,
    Source,
)
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection, migrate, version_of
from dcf.memory.messages import append, priced
from dcf.memory.observations.editing import Texts

pytestmark = settled(*REMEMBERED)

WORDS = (
    "plum",
    "plums",
    "fig",
    "naïve",
    "x_y",
    "to be",
    "",
    "日本語",
    "a\u0301b",
    "Plum!",
    "ไทย🎉",
)
ORIGIN = Origin("thread", "1")
_words = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
_steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("say", "keep", "write", "change", "drop", "forget", "leave", "back", "fail"),
                *("share", "observe", "edit", "unlearn", "restore", "mean"),
            ]
        ),
        st.integers(0, 3),
        _words,
    ),
    max_size=14,
)


def dump(connection: Connection) -> set[tuple[object, ...]]:
    """What is in the index, by text and not by place."""
    rows = connection.execute(
        "SELECT d.kind, d.ref, d.length, t.col, t.term FROM search_documents d"
        " LEFT JOIN search_terms t ON t.doc = d.place"
    )
    return {tuple(row) for row in rows}


def documents(connection: Connection) -> list[tuple[object, ...]]:
    """The texts that are in the index."""
    return [tuple(row) for row in connection.execute("SELECT kind, ref FROM search_documents")]


def meanings(connection: Connection) -> set[tuple[object, ...]]:
    """Each text with its vector."""
    rows = connection.execute(
        "SELECT kind, ref, value FROM search_documents JOIN search_vectors USING (place)"
    )
    return {tuple(row) for row in rows}


def everything(connection: Connection) -> list[list[tuple[object, ...]]]:
    """All that is in the index, with its vectors."""
    tables = ("documents", "ranges", "spaces", "vectors", "state", "terms", "about_terms")
    return [
        [tuple(row) for row in connection.execute(f"SELECT * FROM search_{table}")]
        for table in tables
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_steps)
def test_the_index_is_what_one_made_anew_is(steps: list[tuple[str, int, str]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(_agree(Path(folder), steps))


async def _agree(folder: Path, steps: list[tuple[str, int, str]]) -> None:
    source = Source(folder / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        for name in ("anna", "bea"):
            await memory.agents.create(
                NewAgent(name), by=SYSTEM, blocks=(NewBlock("human"), NewBlock("style", "fig"))
            )
        for step in steps:
            with suppress(MemoryProblem, ZeroDivisionError):
                await _do(memory, *step)
        assert await memory.check() == ()
        await memory.search.catch_up()
        assert await memory.check() == ()
        meant = await memory.ledger.read(meanings)
        assert len(meant) == len(await memory.ledger.read(documents))
        kept = await memory.ledger.read(dump)
        await memory.search.rebuild()
        assert await memory.ledger.read(dump) == kept
        await memory.search.catch_up()
        assert await memory.ledger.read(meanings) == meant
        assert await memory.check() == ()


async def _do(memory: Memory, what: str, number: int, text: str) -> None:
    agent_id = f"agent-{number % 2 + 1}"
    if what == "say":
        await memory.messages.append(
            agent_id, NewMessage("user", text, sender=WORDS[number]), by=SYSTEM
        )
    elif what == "keep":
        await memory.passages.insert(agent_id, NewPassage(text, (WORDS[number],)), by=SYSTEM)
    elif what == "write":
        await memory.blocks.write(agent_id, "human", text, by=SYSTEM)
    elif what == "change":
        await memory.passages.change(f"passage-{number + 1}", by=SYSTEM, text=text or "pear")
    elif what == "drop":
        await memory.passages.delete(f"passage-{number + 1}", by=SYSTEM)
    elif what == "forget":
        await memory.blocks.delete(agent_id, "human", by=SYSTEM)
    elif what == "leave":
        await memory.agents.delete(agent_id, by=SYSTEM)
    elif what == "back":
        last = await memory.events.last()
        await memory.events.roll_back_agent(agent_id, max(last - 3 * number, 0), by=SYSTEM)
    elif what == "observe":
        new = NewObservation("change", f"{text.strip() or 'pear'} {number}", ORIGIN, "fruit")
        await memory.observations.add(new, by=SYSTEM)
    elif what == "edit":
        await memory.observations.edit(
            f"observation-{number + 1}", Texts(narrative=text), by=SYSTEM
        )
    elif what == "unlearn":
        await memory.observations.forget(Filter(ids=[f"observation-{number + 1}"]), by=SYSTEM)
    elif what == "restore":
        await memory.events.undo(await memory.events.last(), by=SYSTEM)
    elif what == "mean":
        await memory.search.catch_up()
    elif what == "share":
        await memory.blocks.attach("agent-2", "block-1", by=SYSTEM, label="shared")
    else:
        await _fail(memory, agent_id, text)


async def _fail(memory: Memory, agent_id: str, text: str) -> None:
    def work(journal: Journal) -> None:
        append(journal, agent_id, priced([NewMessage("user", text)]))
        raise ZeroDivisionError

    await memory.ledger.change(SYSTEM, work)


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM search_documents WHERE kind = 'message'",
        "UPDATE search_documents SET length = 99",
        "UPDATE messages SET content = 'a fig'",
        "DELETE FROM search_ranges",
        "INSERT INTO search_words (rowid, text) VALUES (7, 'ghost')",
        "INSERT INTO search_abouts (rowid, about) VALUES (7, 'ghost')",
        "INSERT INTO search_abouts (search_abouts) VALUES ('delete-all')",
        "INSERT INTO search_vectors VALUES (7, x'00')",
        "DELETE FROM search_signs",
        "UPDATE search_signs SET bits = zeroblob(length(bits))",
    ],
)
async def test_a_harmed_index_is_noticed_and_made_anew(
    tmp_path: Path, by: Actor, clock: Ticking, harm: str
) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=by)
        await memory.messages.append(agent.id, NewMessage("user", "a plum", sender="bea"), by=by)
        await memory.search.catch_up()
        assert await memory.check() == ()
        await memory.ledger.database.write(lambda connection: connection.execute(harm))
        assert await memory.check() != ()
        assert await memory.search.rebuild() == 1
        assert await memory.check() == ()


async def test_a_file_of_an_older_form_is_indexed_when_it_is_opened(
    tmp_path: Path, by: Actor, clock: Ticking
) -> None:
    source = Source(tmp_path / "m.db")
    new_id = Numbered()
    async with Memory.open(source, clock=clock, new_id=new_id) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=by)
        await memory.messages.append(agent.id, NewMessage("user", "a plum"), by=by)
        await memory.ledger.database.write(
            lambda connection: connection.execute("UPDATE search_state SET form = 0")
        )
        await memory.ledger.database.write(
            lambda connection: connection.execute("DELETE FROM search_documents")
        )
    async with Memory.open(source, clock=clock, new_id=new_id) as memory:
        assert [found.seq for found in await memory.search.find("plum")] == [1]


async def test_the_index_of_an_older_version_of_the_file_is_made_anew(
    tmp_path: Path, by: Actor, clock: Ticking
) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        agent = await memory.agents.create(NewAgent("anna"), by=by)
        await memory.messages.append(agent.id, NewMessage("user", "a plum", sender="bea"), by=by)
        await memory.passages.insert(agent.id, NewPassage("a fig", ("fruit",)), by=by)
        newest = await memory.ledger.read(version_of)
    with closing(source.connect()) as connection:
        migrate(connection, source.path, to=5)
        assert connection.execute("SELECT form FROM search_state").fetchone()[0] < 4
        assert migrate(connection, source.path) == (5, newest)
    async with Memory.open(source, clock=clock, new_id=Numbered()) as memory:
        assert await memory.check() == ()
        assert [found.ref for found in await memory.search.find("fruit")] == ["passage-1"]


async def test_all_words_of_a_very_long_block_are_found_and_it_is_long(
    memory: Memory, by: Actor
) -> None:
    def length(connection: Connection) -> int:
        return int(connection.execute("SELECT length FROM search_documents").fetchone()[0])

    blocks = [NewBlock("log", "one more line\n" * 40_000)]
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=blocks)
    assert await memory.ledger.read(length) == pytest.approx(120_000, rel=0.001)
    await memory.blocks.append(agent.id, "log", "a plum at its end", by=by)
    (found,) = await memory.search.find("plum", agent_ids=[agent.id])
    assert (found.label, "plum" in found.text) == ("log", True)
    assert await memory.check() == ()
