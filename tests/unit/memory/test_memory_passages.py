"""Passages: an agent's archive."""

from __future__ import annotations

import math

import pytest

from dcf.memory import (
    Actor,
    InvalidEntry,
    Memory,
    NewAgent,
    NewPassage,
    UnknownAgent,
    UnknownPassage,
)


async def test_passages_are_listed_by_age_page_and_tag(memory: Memory, by: Actor) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    first, second = await memory.passages.insert(
        agent.id, NewPassage("one", ("b", "a", "a"), 0.9, "mail"), NewPassage("two", ("a",)), by=by
    )
    assert (first.tags, first.salience, first.source, first.reads) == (("a", "b"), 0.9, "mail", 0)
    assert await memory.passages.list(agent.id) == (first, second)
    assert await memory.passages.list(agent.id, limit=1) == (first,)
    assert await memory.passages.list(agent.id, after=first.id) == (second,)
    assert await memory.passages.list(agent.id, tags=("a", "b")) == (first,)
    assert await memory.passages.get(second.id) == second
    asked = [second.id, "passage-9", first.id]
    assert await memory.passages.several(asked) == (second, first)


async def test_reads_are_counted_and_no_event(memory: Memory, by: Actor) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    (kept,) = await memory.passages.insert(agent.id, NewPassage("one"), by=by)
    last = await memory.events.last()
    await memory.passages.count_reads([kept.id, "passage-9"])
    read = await memory.passages.get(kept.id)
    assert (read.reads, read.read_at is None) == (1, False)
    assert await memory.events.last() == last


async def test_changes_and_deletions_are_recorded_and_undone(memory: Memory, by: Actor) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    (kept,) = await memory.passages.insert(agent.id, NewPassage("a ripe plum"), by=by)
    there = await memory.events.last()
    changed = await memory.passages.change(kept.id, by=by, salience=0.1, text="a sour lemon")
    assert (changed.salience, changed.text) == (0.1, "a sour lemon")
    assert await memory.search.find("plum", kinds=["passage"]) == ()
    await memory.passages.count_reads([kept.id])
    await memory.passages.delete(kept.id, by=by)
    with pytest.raises(UnknownPassage):
        await memory.passages.get(kept.id)
    assert await memory.search.find("lemon", kinds=["passage"]) == ()
    await memory.events.roll_back_agent(agent.id, there, by=by)
    back = await memory.passages.get(kept.id)
    assert (back.text, back.salience) == ("a ripe plum", 0.5)
    assert [found.ref for found in await memory.search.find("plum")] == [kept.id]


async def test_what_is_wrong_is_said_at_once(memory: Memory, by: Actor) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    wrong = (NewPassage(" "), NewPassage("ok", ("",), math.nan), NewPassage("ok", salience=1.5))
    with pytest.raises(InvalidEntry) as refused:
        await memory.passages.insert(agent.id, *wrong, by=by)
    assert [problem.path for problem in refused.value.problems] == [
        "/0/text",
        "/1/tags/0",
        "/1/salience",
        "/2/salience",
    ]
    assert await memory.passages.list(agent.id) == ()
    with pytest.raises(UnknownAgent):
        await memory.passages.insert("agent-9", NewPassage("a"), by=by)


async def test_passages_of_one_insert_are_indexed_at_once_and_found_one_by_one(
    memory: Memory, by: Actor
) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    told: list[tuple[str, int]] = []
    memory.ledger.followers = (
        *memory.ledger.followers,
        lambda _connection, entity, turns: told.append((entity.name, len(turns))),
    )
    texts = ("plums are ripe", "figs are not", "pears are gone")
    kept = await memory.passages.insert(agent.id, *map(NewPassage, texts), by=by)
    # Else the index of words is written anew for each of them.
    assert told == [("passage", 3)]
    for word, one in zip(("plums", "figs", "pears"), kept, strict=True):
        found = await memory.search.find(word, k=1, agent_ids=[agent.id])
        assert [each.ref for each in found] == [one.id]
    events = await memory.events.list()
    noted = {one.entity_id for one in events if one.entity == "passage"}
    assert noted == {one.id for one in kept}
