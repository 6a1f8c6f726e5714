"""The four strategies on a real memory file: what each does, and what it leaves alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    Agent,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    NewPassage,
    Source,
    UnknownAgent,
)
from dcf.memory.consolidation import (
    STRATEGIES,
    ConsolidationSettings,
    Consolidator,
    Session,
    Strategy,
)

DAY = 86_400_000
FACTS = "\n".join(f"The port of service s{number} is {8000 + number}." for number in range(40))
"""About 1,300 bytes, each line a fact."""


@pytest.fixture
async def memory(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=clock, new_id=Numbered(), embedder="none") as opened:
        yield opened
        assert await opened.check() == (), "the file is whole after every test"


async def agent_with(memory: Memory, by: Actor, *blocks: NewBlock, window: int = 8000) -> Agent:
    return await memory.agents.create(
        NewAgent("anna", context_window=window), by=by, agent_id="anna", blocks=blocks
    )


async def consolidated(memory: Memory, *strategies: Strategy, **settings: int) -> Session:
    consolidator = Consolidator(memory, settings=ConsolidationSettings(**settings))
    return await consolidator.run("anna", strategies=strategies or STRATEGIES)


async def text(memory: Memory, label: str) -> str:
    return (await memory.blocks.read("anna", label)).value


async def archived(memory: Memory, label: str) -> str:
    passages = await memory.passages.list("anna", tags=("consolidated", f"block:{label}"))
    return "\n".join(passage.text for passage in passages)


async def spoken(memory: Memory, by: Actor, count: int) -> None:
    for number in range(count):
        await memory.messages.append(
            "anna",
            NewMessage("user", f"Where is Bert on day {number}, and what does he do there?"),
            NewMessage("assistant", f"On day {number} Bert is in room {number} and reads."),
            by=by,
        )


async def test_a_block_over_its_target_is_shortened_and_its_text_goes_to_the_archive(
    memory: Memory, by: Actor
) -> None:
    await agent_with(memory, by, NewBlock("notes", FACTS, soft_limit=1000))
    session = await consolidated(memory, "summarize", level=9)
    now = await text(memory, "notes")
    # target * (1 - level / 18)
    assert 0 < len(now.encode()) <= 500
    assert set(now.split("\n")) <= set(FACTS.split("\n"))
    assert await archived(memory, "notes") == FACTS
    (change,) = session.changes
    assert (change.strategy, change.label) == ("summarize", "notes")
    assert (change.before, change.after) == (len(FACTS.encode()), len(now.encode()))
    assert "1,000" in change.reason
    (found, *_) = await memory.search.find("port of service s0", agent_ids=["anna"], k=1)
    assert "8000" in found.text


@pytest.mark.parametrize(
    ("soft", "hard", "given", "most"),
    [
        (1000, None, None, 1000),
        (None, 800, None, 800),
        (1000, 1200, 600, 600),
        (200, 999, 600, 200),
    ],
)
async def test_the_target_is_what_is_set_but_never_above_the_limits(
    memory: Memory, by: Actor, soft: int | None, hard: int | None, given: int | None, most: int
) -> None:
    block = NewBlock("notes", FACTS, soft_limit=soft, hard_limit=hard, on_limit="warn")
    await agent_with(memory, by, block)
    settings = ConsolidationSettings(level=1, target_block_bytes=given)
    await Consolidator(memory, settings=settings).run("anna", strategies=["summarize"])
    assert len((await text(memory, "notes")).encode()) <= most * 17 / 18


@pytest.mark.parametrize("size", [7_999, 8_000])
async def test_a_block_within_its_target_is_left_alone(
    memory: Memory, by: Actor, size: int
) -> None:
    await agent_with(memory, by, NewBlock("notes", "x" * size))
    session = await consolidated(memory)
    assert (session.status, session.changes) == ("unchanged", ())
    assert session.before == session.after
    assert session.before.efficiency == 1.0


async def test_json_is_not_shortened_and_that_is_said(memory: Memory, by: Actor) -> None:
    data = "[" + ", ".join(['"the same text again"'] * 100) + "]"
    await agent_with(memory, by, NewBlock("notes", data, soft_limit=1000))
    session = await consolidated(memory)
    assert await text(memory, "notes") == data
    assert [(one.strategy, one.label) for one in session.left_out] == [("summarize", "notes")]
    assert "JSON" in session.left_out[0].reason


async def test_level_0_shortens_and_compresses_nothing(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await agent_with(memory, by, NewBlock("notes", FACTS, soft_limit=1000))
    clock.now += 31 * DAY
    session = await consolidated(memory, "summarize", "compress", level=0)
    assert session.changes == ()


async def test_lines_that_say_the_same_become_one(memory: Memory, by: Actor) -> None:
    said = "Ada likes tea\nBert is in Oslo.\n- Ada really likes the tea\n* Bert is in  Oslo"
    await agent_with(memory, by, NewBlock("notes", said))
    session = await consolidated(memory, "merge")
    assert await text(memory, "notes") == "Bert is in Oslo.\n- Ada really likes the tea"
    # Only what does not stand there to the letter.
    assert await archived(memory, "notes") == "Ada likes tea"
    (change,) = session.changes
    assert (change.strategy, change.label) == ("merge", "notes")
    assert change.reason.startswith("2 lines say")
    assert session.before.redundant_bytes == change.before - change.after
    assert session.after.redundant_bytes == 0
    assert session.after.efficiency > session.before.efficiency


@pytest.mark.parametrize("label", ["persona", "old"])
async def test_a_block_that_another_repeats_stays_and_is_named(
    memory: Memory, by: Actor, label: str
) -> None:
    said = "Ada likes tea much.\nBert sold the house.\nThe port is 8001."
    more = f"{said}\nThe harbour opens at 6."
    await agent_with(memory, by, NewBlock(label, said), NewBlock("human", more))
    session = await consolidated(memory)
    assert (await text(memory, label), await text(memory, "human")) == (said, more)
    assert session.changes == ()
    assert [(one.strategy, one.label) for one in session.left_out] == [("merge", label)]
    assert "'human' says all" in session.left_out[0].reason
    assert session.before.redundant_bytes == 0


async def test_lines_of_different_blocks_are_not_compared(memory: Memory, by: Actor) -> None:
    one, other = "Prefers short answers.", "Prefers short answers."
    await agent_with(memory, by, NewBlock("human", one), NewBlock("persona", other))
    assert (await consolidated(memory)).changes == ()


async def test_passages_that_say_the_same_become_one(memory: Memory, by: Actor) -> None:
    await agent_with(memory, by)
    first, second, third = await memory.passages.insert(
        "anna",
        NewPassage("The harbour opens at 6.", tags=("sea",)),
        NewPassage("The harbour opens at 6", tags=("town",), salience=0.9),
        NewPassage("The harbour opens at 7."),
        by=by,
    )
    await memory.passages.count_reads([second.id])
    session = await consolidated(memory, "merge")
    kept, other = await memory.passages.list("anna")
    assert (kept.id, kept.text) == (first.id, first.text)
    assert (kept.tags, kept.salience) == (("sea", "town"), 0.9)
    assert other == third
    assert [one.label for one in session.changes] == [None]
    assert (session.before.passages, session.after.passages) == (3, 2)


async def test_old_messages_are_archived_and_a_summary_stands_for_them(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await agent_with(memory, by)
    await spoken(memory, by, 30)
    clock.now += 8 * DAY
    await spoken(memory, by, 2)
    session = await consolidated(memory, "archive", keep_messages=10)
    messages = (await memory.contexts.assemble("anna")).messages
    assert [message.seq for message in messages[1:]] == list(range(55, 65))
    assert (messages[0].role, messages[0].replaces) == ("summary", (1, 54))
    assert "room" in messages[0].content
    assert session.after.message_tokens < session.before.message_tokens
    # They stay in the list and in search.
    assert len(await memory.messages.list("anna", archived=True)) == 54
    found = await memory.search.find("Bert day 3 room 3", agent_ids=["anna"], kinds=["message"])
    assert any(one.seq == 8 for one in found)


async def test_young_messages_that_fit_are_left_alone(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await agent_with(memory, by)
    await spoken(memory, by, 30)
    clock.now += 6 * DAY
    assert (await consolidated(memory, "archive")).changes == ()


async def test_messages_that_do_not_fit_in_the_window_are_archived_however_young(
    memory: Memory, by: Actor
) -> None:
    await agent_with(memory, by, window=800)
    await spoken(memory, by, 60)
    before = await memory.contexts.assemble("anna")
    session = await consolidated(memory, "archive", keep_messages=4)
    after = await memory.contexts.assemble("anna")
    assert before.overflow and not after.overflow
    assert after.messages[0].role == "summary"
    assert after.messages[0].tokens <= 800 / 8
    assert (session.before.outside_tokens > 0, session.after.outside_tokens) == (True, 0)


async def test_a_turn_under_way_and_what_comes_after_it_stay(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await agent_with(memory, by)
    await spoken(memory, by, 10)
    clock.now += 8 * DAY
    await memory.turns.begin("anna", NewMessage("user", "And now?"), by=by)
    clock.now += DAY // 2
    await spoken(memory, by, 10)
    await consolidated(memory, "archive", keep_messages=1, archive_after_ms=0)
    left = (await memory.contexts.assemble("anna")).messages
    assert left[0].replaces == (1, 20)
    assert left[1].content == "And now?"


async def test_a_call_stays_with_its_return(memory: Memory, by: Actor, clock: Ticking) -> None:
    await agent_with(memory, by)
    await spoken(memory, by, 5)
    call = {"kind": "call", "id": "c", "tool": "look", "arguments": {"where": "x" * 300}}
    back = {"kind": "return", "id": "c", "tool": "look", "content": "y" * 300, "is_error": False}
    await memory.messages.append(
        "anna",
        NewMessage("user", "Look!"),
        NewMessage("assistant", "", parts=[call]),
        NewMessage("tool", "", parts=[back]),
        NewMessage("assistant", "Seen."),
        by=by,
    )
    clock.now += 8 * DAY
    # The newest three are kept: with them all of their turn.
    await consolidated(memory, "archive", keep_messages=3)
    left = (await memory.contexts.assemble("anna")).messages
    assert [message.content for message in left[1:]] == ["Look!", "", "", "Seen."]


async def test_a_summary_is_taken_in_by_the_next_one(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await agent_with(memory, by)
    for _ in range(2):
        await spoken(memory, by, 20)
        clock.now += 8 * DAY
        await consolidated(memory, "archive", keep_messages=4)
    summaries = [
        message
        for message in (await memory.contexts.assemble("anna")).messages
        if message.role == "summary"
    ]
    assert [summary.replaces for summary in summaries] == [(1, 77)]


async def test_old_history_is_compressed_and_reads_as_before(
    memory: Memory, by: Actor, clock: Ticking
) -> None:
    await agent_with(memory, by, NewBlock("notes", FACTS))
    block = await memory.blocks.write("anna", "notes", FACTS.replace("8", "9"), by=by)
    before = await memory.events.list()
    clock.now += 31 * DAY
    session = await consolidated(memory, "compress")
    (change,) = session.changes
    assert change.strategy == "compress"
    assert change.label == "notes"
    assert change.after < change.before / 3
    assert await memory.events.list() == before, "nothing is written, and all reads as it was"
    attached = next(event.seq for event in before if event.operation == "attached")
    assert await memory.events.text(block.id, attached) == FACTS
    assert (session.before.history_bytes, session.after.history_bytes) == (change.before, 0)
    await memory.events.roll_back_block(block.id, attached, by=by)
    assert await text(memory, "notes") == FACTS


async def test_a_session_compresses_no_more_history_than_fits_in_memory(
    memory: Memory, by: Actor, clock: Ticking, monkeypatch: pytest.MonkeyPatch
) -> None:
    await agent_with(memory, by, NewBlock("notes", FACTS))
    for number in range(3):
        await memory.blocks.write("anna", "notes", FACTS.replace("8", str(number)), by=by)
    clock.now += 31 * DAY
    monkeypatch.setattr("dcf.memory.consolidation.plan.AT_ONCE_SIZE", 2 * len(FACTS))
    left = []
    while (session := await consolidated(memory, "compress")).changes:
        left.append(session.after.history_bytes)
    assert len(left) > 1
    assert left[-1] == 0


async def test_young_history_is_not_compressed(memory: Memory, by: Actor, clock: Ticking) -> None:
    await agent_with(memory, by, NewBlock("notes", FACTS))
    clock.now += 29 * DAY
    assert (await consolidated(memory, "compress")).changes == ()


@pytest.mark.parametrize("kind", ["read-only", "shared", "held by another"])
async def test_blocks_that_others_rely_on_are_left_alone(
    memory: Memory, by: Actor, kind: str
) -> None:
    said = "Ada likes green tea.\nAda likes green tea.\n" + FACTS
    block = NewBlock(
        "notes",
        said,
        soft_limit=1000,
        read_only=kind == "read-only",
        type="shared" if kind == "shared" else "project",
    )
    await agent_with(memory, by, block)
    if kind == "held by another":
        await memory.agents.create(NewAgent("bert"), by=by, agent_id="bert", blocks=[])
        held = await memory.blocks.read("anna", "notes")
        await memory.blocks.attach("bert", held.id, by=by)
    session = await consolidated(memory)
    assert await text(memory, "notes") == said
    assert session.changes == ()
    # It should be shorter: that it is not is said.
    assert [one.label for one in session.left_out] == ["notes"]
    assert session.before.excess_bytes == 0


async def test_what_is_over_its_limit_even_so_is_left_as_it_is(memory: Memory, by: Actor) -> None:
    said = "Ada likes green tea.\nAda likes green tea.\n" + FACTS
    await agent_with(memory, by, NewBlock("notes", said))
    await memory.blocks.change("anna", "notes", by=by, hard_limit=300, on_limit="truncate")
    session = await consolidated(memory, "merge")
    assert await text(memory, "notes") == said, "a merge must not cut"
    assert "over its limit" in session.left_out[0].reason


async def test_each_event_says_why(memory: Memory, by: Actor) -> None:
    await agent_with(memory, by, NewBlock("notes", FACTS + "\n" + FACTS, soft_limit=1000))
    session = await consolidated(memory)
    events = await memory.events.list(consolidation_id=session.id)
    written = [event.by for event in events if event.entity == "block"]
    assert [actor.reason.split(":")[0] for actor in written] == ["summarize", "merge"]
    assert {(actor.kind, actor.name) for actor in written} == {("consolidator", "dcf")}


async def test_bad_settings_strategies_and_agents_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidEntry) as settings:
        ConsolidationSettings(level=10, keep_messages=0, token_budget=-1, target_block_bytes=1)
    assert {problem.path for problem in settings.value.problems} == {
        "/level",
        "/keep_messages",
        "/token_budget",
        "/target_block_bytes",
    }
    with pytest.raises(InvalidEntry, match="shrink"):
        await Consolidator(memory).run("anna", strategies=["shrink"])  # type: ignore[list-item]
    with pytest.raises(InvalidEntry, match="no strategy to follow"):
        await Consolidator(memory).run("anna", strategies=[])
    for dry_run in (True, False):
        with pytest.raises(UnknownAgent):
            await Consolidator(memory).run("anna", dry_run=dry_run)
    with pytest.raises(UnknownAgent):
        await Consolidator(memory).analyse("anna")


async def test_a_large_text_is_archived_in_pieces_of_whole_lines(memory: Memory, by: Actor) -> None:
    long = "".join(f"{number:04}" for number in range(2000))
    said = "\n".join([FACTS] * 5 + [long, "The end is near."])
    await agent_with(memory, by, NewBlock("notes", said))
    await consolidated(memory, "summarize")
    passages = await memory.passages.list("anna", tags=("consolidated",))
    assert all(len(passage.text) <= 3000 for passage in passages)
    assert long in "".join(passage.text for passage in passages)
    whole = {line for passage in passages for line in passage.text.split("\n")}
    assert {*FACTS.split("\n"), "The end is near."} <= whole
    # What is there already is not put there again.
    await memory.blocks.write("anna", "notes", said, by=by)
    await consolidated(memory, "summarize")
    assert await memory.passages.list("anna", tags=("consolidated",)) == passages


async def test_blocks_that_fill_the_window_leave_no_room_for_messages(
    memory: Memory, by: Actor
) -> None:
    blocks = [NewBlock("ports", FACTS), NewBlock("rooms", FACTS.replace("port", "room"))]
    await agent_with(memory, by, *blocks, window=600)
    await spoken(memory, by, 30)
    session = await consolidated(memory)
    assert session.before.outside_tokens == session.before.message_tokens
    assert {change.strategy for change in session.changes} == {"archive"}
