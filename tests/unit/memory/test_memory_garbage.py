"""What is given up, that nothing else is, and that history says how far it goes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from memory_world import Ticking

from dcf.memory import (
    PAD_TTL_MS,
    Actor,
    GarbageReport,
    HistoryForgotten,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NewLetter,
    NewMessage,
    NewPassage,
    NoSuchBlock,
    Retention,
    UnknownLetter,
    UnknownMessage,
    Usage,
)
from dcf.memory.consolidation import Consolidator, UnknownConsolidation

BY = Actor("user", "ada")
DAY = 24 * 3600 * 1000
FOR_EVER = Retention(
    **{field.name: None for field in fields(Retention) if field.name != "least_events"}  # type: ignore[arg-type]
)
NOTHING_KEPT = replace(FOR_EVER, events_ms=0)


def counts(report: GarbageReport) -> dict[str, int]:
    return {one.kind: one.count for one in report.garbage if one.count}


async def rows(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """All rows but those of events and of the border."""

    def work(connection: Any) -> dict[str, list[tuple[Any, ...]]]:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
            " AND name NOT IN ('events', 'history_border', 'forgotten_consolidations')"
            " AND name NOT LIKE 'search_%' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        return {
            name: sorted(map(tuple, connection.execute(f"SELECT * FROM {name}")), key=repr)
            for (name,) in names
        }

    return await memory.ledger.read(work)


@pytest.fixture
async def anna(memory: Memory) -> str:
    agent = await memory.agents.create(
        NewAgent("anna"), by=BY, blocks=[NewBlock("notes", "one"), NewBlock("human")]
    )
    return agent.id


async def test_a_dry_run_says_what_goes_and_then_that_goes(
    memory: Memory, anna: str, clock: Ticking
) -> None:
    for number in range(5):
        await memory.blocks.write(anna, "notes", f"text {number}", by=BY)
    clock.now += 200 * DAY
    before, last = await rows(memory), await memory.events.last()
    planned = await memory.collect_garbage(dry_run=True)
    assert planned.dry_run
    assert await memory.events.border() == 0
    assert await memory.events.last() == last
    # Made: an agent, two blocks, two holders; written: five times. Of each row the last stays, and
    # no longer says what it changed.
    assert counts(planned) == {"events": 5, "event_details": 5}
    done = await memory.collect_garbage(batch=2)
    assert counts(done) == counts(planned)
    assert (done.garbage, done.border) == (planned.garbage, last)
    assert await rows(memory) == before, "no row is touched"
    kept = await memory.events.list()
    assert [(one.entity, dict(one.change)) for one in kept] == [
        ("block", {"changed": {}}),
        ("holder", {"changed": {}}),
        ("block", {"changed": {}}),
        ("holder", {"changed": {}}),
        ("agent", {"changed": {}}),
    ]
    assert await memory.check() == ()
    assert await memory.events.last() == last
    assert counts(await memory.collect_garbage()) == {}, "a second time there is nothing"


async def test_what_goes_back_beyond_the_border_says_so(memory: Memory, anna: str) -> None:
    first = await memory.events.last()
    await memory.blocks.write(anna, "notes", "two", by=BY)
    block = await memory.blocks.read(anna, "notes")
    await memory.collect_garbage(NOTHING_KEPT)
    border = await memory.events.border()
    await memory.blocks.write(anna, "notes", "three", by=BY)
    for attempt in (
        memory.events.roll_back_agent(anna, first, by=BY),
        memory.events.roll_back_agent(anna, 0, by=BY),
        memory.events.roll_back_block(block.id, first, by=BY),
        memory.events.roll_back_project("project-1", 0, by=BY),
        memory.events.text(block.id, first),
        memory.events.undo(1, by=BY),
    ):
        with pytest.raises(HistoryForgotten, match=f"up to {border}") as refused:
            await attempt
        assert str(border) in refused.value.hint
    assert (await memory.blocks.read(anna, "notes")).value == "three"
    assert await memory.events.text(block.id, border) == "two"
    await memory.events.roll_back_agent(anna, border, by=BY)
    assert (await memory.blocks.read(anna, "notes")).value == "two"


async def test_what_comes_after_everything_was_given_up_can_be_undone(
    memory: Memory, anna: str
) -> None:
    await memory.agents.delete(anna, by=BY)
    await memory.collect_garbage(NOTHING_KEPT)
    assert await memory.events.list() == ()
    last = await memory.events.last()
    assert last == await memory.events.border() > 0
    bert = (await memory.agents.create(NewAgent("bert"), by=BY)).id
    await memory.events.roll_back_agent(bert, last, by=BY)
    assert await memory.agents.list() == ()


async def test_a_consolidation_of_which_something_is_missing_is_not_undone(
    memory: Memory, anna: str
) -> None:
    from dcf.memory.blocks import held_row, write_block

    def edit(text: str) -> Any:
        def work(journal: Any) -> None:
            row = held_row(journal.connection, anna, "notes")
            write_block(journal, row, text, agent_id=anna, label="notes")

        return work

    await memory.ledger.change(BY, edit("two"), consolidation_id="c-1")
    await memory.collect_garbage(NOTHING_KEPT)
    await memory.ledger.change(BY, edit("three"), consolidation_id="c-1")
    await memory.ledger.change(BY, edit("four"), consolidation_id="c-2")
    with pytest.raises(HistoryForgotten, match="c-1"):
        await memory.events.roll_back_consolidation("c-1", by=BY)
    await memory.events.roll_back_consolidation("c-2", by=BY)
    assert (await memory.blocks.read(anna, "notes")).value == "three"


async def test_events_go_by_age_number_and_size(memory: Memory, anna: str, clock: Ticking) -> None:
    for number in range(10):
        await memory.blocks.write(anna, "notes", str(number) * 10_000, by=BY)
    last = await memory.events.last()
    old = await memory.collect_garbage(replace(FOR_EVER, events_ms=DAY), dry_run=True)
    assert (old.border, counts(old)) == (0, {})
    many = await memory.collect_garbage(replace(FOR_EVER, most_events=4), dry_run=True)
    assert many.border == last - 4
    used = many.file_bytes[0]
    tight = replace(FOR_EVER, most_bytes=used - 30_000, least_events=3)
    large = await memory.collect_garbage(tight, dry_run=True)
    assert 0 < large.border < last - 3
    least = await memory.collect_garbage(replace(tight, most_bytes=0), dry_run=True)
    assert least.border == last - 3, "the newest stay, however large"
    assert least.over_bytes > 0
    clock.now += 2 * DAY
    await memory.blocks.write(anna, "human", "Ada", by=BY)
    old = await memory.collect_garbage(replace(FOR_EVER, events_ms=DAY), dry_run=True)
    assert old.border == last


async def test_the_file_becomes_smaller(memory: Memory, anna: str) -> None:
    for number in range(20):
        await memory.blocks.write(anna, "notes", str(number) * 100_000, by=BY)
    await memory.blocks.write(anna, "notes", "", by=BY)
    before = (await memory.stats()).file_bytes
    report = await memory.collect_garbage(NOTHING_KEPT)
    assert report.file_bytes[1] < before / 4
    stats = await memory.stats()
    assert (stats.file_bytes, stats.free_bytes) == (report.file_bytes[1], 0)
    assert stats.wal_bytes == 0


async def test_letters_and_turns_go_after_their_end_a_turn_not_before_its_letter(
    memory: Memory, anna: str, clock: Ticking
) -> None:
    new = NewLetter(anna, "bert", "How far?", "c-1", 60_000)
    letter = await memory.letters.leave(new, by=BY)
    taken = await memory.letters.take(by=BY, lease_ms=1_000)
    assert taken is not None
    question = NewMessage("user", "How far?", correlation_id="c-1")
    turn = await memory.turns.begin(anna, question, by=BY, letter=taken)
    said = NewMessage("assistant", "Far.")
    await memory.turns.answer(turn, said, by=BY, model="m", usage=Usage(), letter=taken)
    waiting = await memory.letters.leave(replace(new, timeout_ms=99 * DAY), by=BY)
    clock.now += 2 * DAY
    only_turns = replace(FOR_EVER, turns_ms=DAY)
    assert counts(await memory.collect_garbage(only_turns)) == {}
    both = replace(only_turns, letters_ms=DAY)
    assert counts(await memory.collect_garbage(both, dry_run=True)) == {"letters": 1, "turns": 1}
    assert counts(await memory.collect_garbage(both)) == {"letters": 1, "turns": 1}
    assert await memory.turns.list(anna) == ()
    assert [one.id for one in await memory.letters.list(anna)] == [waiting.id]
    with pytest.raises(UnknownLetter):
        await memory.letters.get(letter.id)


async def test_archived_messages_go_when_history_no_longer_speaks_of_them(
    memory: Memory, anna: str, clock: Ticking
) -> None:
    for number in range(6):
        await memory.messages.append(anna, NewMessage("user", f"fact {number}"), by=BY)
    summary = NewMessage("summary", "Three facts.", replaces=(4, 5))
    await memory.messages.append(anna, summary, by=BY)
    await memory.messages.archive(anna, 1, 3, by=BY)
    await memory.messages.archive(anna, 7, 7, by=BY)
    clock.now += 2 * DAY
    keep = replace(FOR_EVER, archived_messages_ms=DAY)
    assert counts(await memory.collect_garbage(keep)) == {}, "a rollback may need them"
    gone = await memory.collect_garbage(replace(keep, events_ms=0))
    assert counts(gone)["messages"] == 3
    assert [one.seq for one in await memory.messages.list(anna)] == [4, 5, 6, 7]
    with pytest.raises(UnknownMessage):
        await memory.messages.get(anna, 2)
    (added,) = await memory.messages.append(anna, NewMessage("user", "more"), by=BY)
    assert added.seq == 8, "no number is given twice"
    context = await memory.contexts.assemble(anna)
    assert [one.seq for one in context.messages] == [6, 8]
    assert await memory.messages.count(anna) == 5
    found = await memory.search.find("fact", agent_ids=[anna], kinds=("message",))
    assert {one.seq for one in found} >= {4, 5, 6}
    assert 1 not in {one.seq for one in found}


async def test_each_agent_keeps_its_most_salient_passages(memory: Memory, anna: str) -> None:
    for number, salience in enumerate((0.1, 0.9, 0.5, 0.5)):
        new = NewPassage(f"passage {number}", salience=salience)
        await memory.passages.insert(anna, new, by=BY)
    kept = replace(FOR_EVER, most_passages=2)
    assert counts(await memory.collect_garbage(kept)) == {}, "a rollback may need them"
    report = await memory.collect_garbage(replace(kept, events_ms=0))
    assert counts(report)["passages"] == 2
    left = [one.text for one in await memory.passages.list(anna)]
    assert left == ["passage 1", "passage 3"]
    found = await memory.search.find("passage", agent_ids=[anna])
    assert sorted(one.text for one in found) == left


async def test_blocks_that_nobody_has_go_when_they_are_old_and_can_come_back(
    memory: Memory, anna: str, clock: Ticking
) -> None:
    await memory.projects.ensure("/a", by=BY)
    linked = await memory.blocks.create(None, NewBlock("linked", type="shared"), by=BY)
    await memory.projects.link("/a", linked.id, by=BY)
    orphan = await memory.blocks.create(None, NewBlock("orphan", "text", type="shared"), by=BY)
    assert counts(await memory.collect_garbage()) == {}
    clock.now += 31 * DAY
    young = await memory.blocks.create(None, NewBlock("young"), by=BY)
    before = await memory.events.last()
    planned = await memory.collect_garbage(dry_run=True)
    report = await memory.collect_garbage(by=BY)
    assert planned.garbage == report.garbage
    assert counts(report) == {"orphan_blocks": 1}
    with pytest.raises(NoSuchBlock):
        await memory.blocks.get(orphan.id)
    await memory.blocks.get(linked.id)
    await memory.blocks.get(young.id)
    await memory.events.roll_back_block(orphan.id, before, by=BY)
    assert (await memory.blocks.get(orphan.id)).value == "text"


async def test_sessions_and_pads_go_after_their_end(
    memory: Memory, anna: str, clock: Ticking
) -> None:
    ended = await memory.sessions.begin(anna, by=BY)
    await memory.sessions.end(ended.id, by=BY)
    running = await memory.sessions.begin(anna, by=BY)
    await memory.scratch_pads.begin(anna, "t", by=BY)
    await memory.scratch_pads.write(anna, "t", "x" * 10, by=BY)
    clock.now += PAD_TTL_MS
    report = await memory.collect_garbage()
    assert counts(report) == {"expired_scratch_pads": 1}
    assert report.bytes == 10
    clock.now += 100 * DAY
    report = await memory.collect_garbage()
    assert counts(report)["sessions"] == 1
    assert counts(report)["scratch_pads"] == 1
    assert await memory.sessions.list() == (await memory.sessions.get(running.id),)
    assert await memory.scratch_pads.list(anna) == ()


async def test_consolidations_stay_on_record_as_long_as_they_can_be_undone(
    memory: Memory, anna: str, clock: Ticking
) -> None:
    consolidator = Consolidator(memory)
    bert = (await memory.agents.create(NewAgent("bert"), by=BY, blocks=[NewBlock("notes")])).id
    made = []
    for agent_id in (anna, anna, bert):
        line = f"The boat of agent {len(made)} leaves on Monday at nine."
        await memory.blocks.write(agent_id, "notes", f"{line}\n{line}", by=BY)
        made.append((await consolidator.run(agent_id)).id)
    await memory.agents.delete(bert, by=BY)
    clock.now += 200 * DAY
    kept = replace(FOR_EVER, consolidations_ms=180 * DAY)
    assert counts(await memory.collect_garbage(kept)) == {}, "each can be undone"
    planned = await memory.collect_garbage(replace(kept, events_ms=DAY), dry_run=True)
    report = await memory.collect_garbage(replace(kept, events_ms=DAY))
    assert planned.garbage == report.garbage
    assert counts(report)["consolidations"] == 2
    (last,) = await consolidator.history()
    assert last.id == made[1], "of an agent that is there the last one stays"
    with pytest.raises(HistoryForgotten):
        await consolidator.rollback(made[1], by=BY)
    for gone in (made[0], made[2]):
        with pytest.raises(UnknownConsolidation):
            await consolidator.rollback(gone, by=BY)
    forgotten = await memory.ledger.read(
        lambda c: c.execute("SELECT id FROM forgotten_consolidations").fetchall()
    )
    assert made[2] not in [row["id"] for row in forgotten]


async def test_a_retention_that_says_nonsense_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidEntry) as refused:
        await memory.collect_garbage(Retention(events_ms=-1, most_passages=-2), batch=0)
    paths = [one.path for one in refused.value.problems]
    assert paths == ["/events_ms", "/most_passages", "/batch"]


async def test_stats_count_bytes_by_kind_and_agent(memory: Memory, anna: str) -> None:
    bert = (await memory.agents.create(NewAgent("bert"), by=BY, blocks=())).id
    await memory.blocks.write(anna, "notes", "ä" * 50, by=BY)
    shared = await memory.blocks.create(bert, NewBlock("big", "x" * 500, type="shared"), by=BY)
    await memory.blocks.attach(anna, shared.id, by=BY)
    await memory.messages.append(bert, NewMessage("user", "Hello."), by=BY)
    await memory.messages.archive(bert, 1, 1, by=BY)
    await memory.passages.insert(bert, NewPassage("A fact."), by=BY)
    stats = await memory.stats(blocks=2)
    kinds = {one.kind: one for one in stats.kinds}
    assert (kinds["agents"].count, kinds["blocks"].count, kinds["messages"].count) == (2, 3, 1)
    assert kinds["passages"].bytes == len("A fact.") + len("[]")
    first, second = stats.agents
    assert (first.name, first.blocks, first.block_bytes) == ("anna", 3, 600)
    assert (second.name, second.messages, second.archived, second.passages) == ("bert", 1, 1, 1)
    assert (second.message_bytes, second.passage_bytes) == (len("Hello.") + len("[]"), 7)
    assert second.bytes == 500 + 8 + 7
    assert [(one.label, one.bytes, one.holders) for one in stats.largest_blocks] == [
        ("big", 500, 2),
        ("notes", 100, 1),
    ]
    assert stats.last_event == await memory.events.last()
    assert stats.border == 0
    assert stats.file_bytes > 0
