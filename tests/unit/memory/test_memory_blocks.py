"""Blocks: written, appended, replaced, shared, limited, protected."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from campaigns import REMEMBERED, settled

from dcf.memory import (
    Actor,
    Agent,
    BlockExists,
    BlockShared,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NoSuchBlock,
    OverLimit,
    ReadOnlyBlock,
    RevisionConflict,
    TextNotFound,
    TextNotUnique,
    UnknownBlock,
)

pytestmark = settled(*REMEMBERED)


@pytest.fixture
async def anna(memory: Memory, by: Actor) -> Agent:
    return await memory.agents.create(NewAgent("anna"), by=by)


async def test_a_write_gives_the_block_its_text_and_a_new_revision(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    before = await memory.blocks.read(anna.id, "human")
    after = await memory.blocks.write(anna.id, "human", "likes tea ☕", by=by)
    assert (after.value, after.revision) == ("likes tea ☕", before.revision + 1)
    assert after == await memory.blocks.read(anna.id, "human") == await memory.blocks.get(after.id)


async def test_the_same_text_again_is_no_change(memory: Memory, by: Actor, anna: Agent) -> None:
    first = await memory.blocks.write(anna.id, "human", "tea", by=by)
    last = await memory.events.last()
    assert await memory.blocks.write(anna.id, "human", "tea", by=by) == first
    assert await memory.events.last() == last


async def test_what_is_appended_stands_on_a_line_of_its_own(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    for text in ("one", "two\n", "three"):
        block = await memory.blocks.append(anna.id, "human", text, by=by)
    assert block.value == "one\ntwo\nthree"


async def test_a_replacement_changes_the_one_place_that_is_meant(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await memory.blocks.write(anna.id, "human", "tea and cake", by=by)
    block = await memory.blocks.replace(anna.id, "human", "tea", "coffee", by=by)
    assert block.value == "coffee and cake"
    block = await memory.blocks.replace(anna.id, "human", " and cake", "", by=by)
    assert block.value == "coffee"


@pytest.mark.parametrize("old", ["milk", "", "TEA"])
async def test_a_replacement_of_what_is_not_there_is_refused(
    memory: Memory, by: Actor, anna: Agent, old: str
) -> None:
    await memory.blocks.write(anna.id, "human", "tea", by=by)
    with pytest.raises(TextNotFound):
        await memory.blocks.replace(anna.id, "human", old, "x", by=by)


@pytest.mark.parametrize(("text", "old"), [("tea tea", "tea"), ("aaa", "aa")])
async def test_a_replacement_that_could_mean_two_places_is_refused(
    memory: Memory, by: Actor, anna: Agent, text: str, old: str
) -> None:
    await memory.blocks.write(anna.id, "human", text, by=by)
    with pytest.raises(TextNotUnique, match="2 times"):
        await memory.blocks.replace(anna.id, "human", old, "x", by=by)


async def test_a_write_to_another_revision_is_refused_and_changes_nothing(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    seen = await memory.blocks.read(anna.id, "human")
    await memory.blocks.write(anna.id, "human", "theirs", by=by, expected=seen.revision)
    for change in (
        memory.blocks.write(anna.id, "human", "mine", by=by, expected=seen.revision),
        memory.blocks.append(anna.id, "human", "mine", by=by, expected=seen.revision),
        memory.blocks.replace(anna.id, "human", "nothing", "", by=by, expected=seen.revision),
        memory.blocks.change(anna.id, "human", by=by, expected=seen.revision, read_only=True),
        memory.blocks.delete(anna.id, "human", by=by, expected=seen.revision),
    ):
        with pytest.raises(RevisionConflict) as conflict:
            await change
        assert (conflict.value.fields["expected"], conflict.value.fields["found"]) == (1, 2)
    assert (await memory.blocks.read(anna.id, "human")).value == "theirs"


async def test_a_read_only_block_is_changed_by_its_keeper_only(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    for change in (
        memory.blocks.write(anna.id, "skills", "x", by=by),
        memory.blocks.append(anna.id, "skills", "x", by=by),
        memory.blocks.replace(anna.id, "skills", "not there", "x", by=by),
        memory.blocks.change(anna.id, "skills", by=by, read_only=False),
        memory.blocks.delete(anna.id, "skills", by=by),
    ):
        with pytest.raises(ReadOnlyBlock, match="skills"):
            await change
    kept = await memory.blocks.write(anna.id, "skills", "- pdf", by=by, as_owner=True)
    assert (kept.value, kept.read_only) == ("- pdf", True)
    await memory.blocks.delete(anna.id, "skills", by=by, as_owner=True)
    with pytest.raises(UnknownBlock):
        await memory.blocks.read(anna.id, "skills")


async def _limited(memory: Memory, by: Actor, anna: Agent, **limits: Any) -> None:
    await memory.blocks.create(anna.id, NewBlock("notes", **limits), by=by)


async def test_limits_count_bytes_of_utf8(memory: Memory, by: Actor, anna: Agent) -> None:
    await _limited(memory, by, anna, hard_limit=6)
    assert (await memory.blocks.write(anna.id, "notes", "äöü", by=by)).warning is None
    with pytest.raises(OverLimit) as over:
        await memory.blocks.write(anna.id, "notes", "äöüx", by=by)
    assert (over.value.fields["size"], over.value.fields["limit"]) == (7, 6)
    assert (await memory.blocks.read(anna.id, "notes")).value == "äöü"


async def test_over_the_soft_limit_a_write_is_kept_with_a_warning(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await _limited(memory, by, anna, soft_limit=3, hard_limit=10)
    assert (await memory.blocks.write(anna.id, "notes", "abc", by=by)).warning is None
    over = await memory.blocks.write(anna.id, "notes", "abcd", by=by)
    assert over.value == "abcd"
    assert over.warning is not None
    assert "4 bytes" in over.warning
    assert (await memory.blocks.read(anna.id, "notes")).warning is None


async def test_warn_keeps_what_is_over_the_hard_limit(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await _limited(memory, by, anna, hard_limit=3, on_limit="warn")
    over = await memory.blocks.write(anna.id, "notes", "abcd", by=by)
    assert over.value == "abcd"
    assert over.warning is not None


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [("abcd", 3, "abc"), ("ab€", 4, "ab"), ("😀😀", 7, "😀"), ("é", 1, ""), ("abc", 0, "")],
)
async def test_truncate_cuts_between_characters_and_says_so(
    memory: Memory, by: Actor, anna: Agent, text: str, limit: int, kept: str
) -> None:
    await _limited(memory, by, anna, hard_limit=limit, on_limit="truncate")
    cut = await memory.blocks.write(anna.id, "notes", text, by=by)
    assert cut.value == kept
    assert cut.warning is not None
    lost = len(text.encode()) - len(kept.encode())
    assert f"the last {lost} bytes of {len(text.encode())}" in cut.warning


async def test_a_new_block_is_under_its_limits_too(memory: Memory, by: Actor, anna: Agent) -> None:
    with pytest.raises(OverLimit):
        await memory.blocks.create(anna.id, NewBlock("notes", "abcd", hard_limit=3), by=by)
    cut = await memory.blocks.create(
        anna.id, NewBlock("notes", "abcd", hard_limit=3, on_limit="truncate"), by=by
    )
    assert cut.value == "abc"
    assert cut.warning is not None


async def test_a_text_with_nul_or_half_a_character_is_refused_clearly(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    for text, said in (("a\0b", "NUL at character 1"), ("ab\udfff", "surrogate pair at character")):
        with pytest.raises(InvalidEntry, match=said):
            await memory.blocks.write(anna.id, "human", text, by=by)
        with pytest.raises(InvalidEntry, match=said):
            await memory.blocks.append(anna.id, "human", text, by=by)
        with pytest.raises(InvalidEntry, match=said):
            await memory.blocks.create(anna.id, NewBlock("n", text), by=by)
    assert (await memory.blocks.read(anna.id, "human")).value == ""


async def test_all_that_is_wrong_with_a_block_is_said_at_once(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    wrong: Any = {"type": "secret", "on_limit": "explode", "provenance": "?"}
    new = NewBlock("", "\0", soft_limit=5, hard_limit=-1, metadata={"a": float("nan")}, **wrong)
    with pytest.raises(InvalidEntry) as refused:
        await memory.blocks.create(anna.id, new, by=by)
    assert sorted({problem.path for problem in refused.value.problems}) == [
        "/hard_limit",
        "/label",
        "/metadata",
        "/on_limit",
        "/provenance",
        "/soft_limit",
        "/type",
        "/value",
    ]


async def test_a_block_of_twelve_megabytes_is_kept_and_changed(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    text = "ä" * 6_000_000
    await memory.blocks.create(anna.id, NewBlock("big", text), by=by)
    await memory.blocks.append(anna.id, "big", "end", by=by)
    block = await memory.blocks.replace(anna.id, "big", "\nend", "\nEND", by=by)
    assert block.value == text + "\nEND"
    events = await memory.events.list(block_id=block.id, limit=2)
    # History keeps what changed, not the text again.
    assert all(len(str(event.change)) < 300 for event in events)
    assert await memory.events.text(block.id, events[1].seq) == text + "\nend"


async def test_a_text_above_a_hundred_megabytes_is_refused(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    with pytest.raises(InvalidEntry, match="at most 100,000,000"):
        await memory.blocks.create(anna.id, NewBlock("huge", "x" * 100_000_001), by=by)


async def test_a_shared_block_is_one_text_for_all_its_holders(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    bert = await memory.agents.create(NewAgent("bert"), by=by)
    team = await memory.blocks.create(None, NewBlock("team", type="shared"), by=by)
    await memory.blocks.attach(anna.id, team.id, by=by)
    await memory.blocks.attach(bert.id, team.id, by=by, label="colleagues")
    await memory.blocks.write(anna.id, "team", "anna, bert", by=by)
    seen = await memory.blocks.read(bert.id, "colleagues")
    assert (seen.id, seen.label, seen.value) == (team.id, "colleagues", "anna, bert")
    assert await memory.blocks.holders(team.id) == ((anna.id, "team"), (bert.id, "colleagues"))


async def test_a_block_that_others_hold_is_detached_not_deleted(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    bert = await memory.agents.create(NewAgent("bert"), by=by, blocks=[])
    human = await memory.blocks.read(anna.id, "human")
    await memory.blocks.attach(bert.id, human.id, by=by)
    with pytest.raises(BlockShared, match=bert.id):
        await memory.blocks.delete(anna.id, "human", by=by)
    await memory.blocks.detach(anna.id, "human", by=by)
    with pytest.raises(UnknownBlock):
        await memory.blocks.read(anna.id, "human")
    assert (await memory.blocks.read(bert.id, "human")).id == human.id
    await memory.blocks.detach(bert.id, "human", by=by)
    with pytest.raises(NoSuchBlock):
        await memory.blocks.get(human.id)


async def test_a_shared_block_stays_when_nobody_holds_it(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    team = await memory.blocks.create(anna.id, NewBlock("team", "t", type="shared"), by=by)
    await memory.blocks.detach(anna.id, "team", by=by)
    assert (await memory.blocks.get(team.id)).value == "t"
    assert await memory.blocks.holders(team.id) == ()


async def test_blocks_of_all_agents_are_found_by_label_type_and_project(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    bert = await memory.agents.create(NewAgent("bert"), by=by)
    team = await memory.blocks.create(None, NewBlock("team", type="shared", project="/p"), by=by)
    assert await memory.blocks.find(type="shared") == (team,)
    assert await memory.blocks.find(project="/p", label="team") == (team,)
    humans = await memory.blocks.find(label="human")
    assert {one.id for one in humans} == {
        (await memory.blocks.read(agent.id, "human")).id for agent in (anna, bert)
    }
    first = await memory.blocks.find(limit=5)
    rest = await memory.blocks.find(after=first[-1].id)
    assert len({one.id for one in (*first, *rest)}) == 13


async def test_only_a_block_that_nobody_holds_is_discarded(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    team = await memory.blocks.create(anna.id, NewBlock("team", type="shared"), by=by)
    with pytest.raises(BlockShared, match=anna.id):
        await memory.blocks.discard(team.id, by=by)
    await memory.blocks.detach(anna.id, "team", by=by)
    await memory.blocks.discard(team.id, by=by)
    with pytest.raises(NoSuchBlock):
        await memory.blocks.get(team.id)


async def test_an_agent_has_one_block_of_a_label(memory: Memory, by: Actor, anna: Agent) -> None:
    with pytest.raises(BlockExists, match="human"):
        await memory.blocks.create(anna.id, NewBlock("human"), by=by)
    team = await memory.blocks.create(None, NewBlock("human", type="shared"), by=by)
    with pytest.raises(BlockExists, match="human"):
        await memory.blocks.attach(anna.id, team.id, by=by)
    with pytest.raises(NoSuchBlock):
        await memory.blocks.attach(anna.id, "block-none", by=by)


async def test_limits_and_descriptions_can_be_changed(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await memory.blocks.write(anna.id, "human", "x" * 100, by=by)
    changed = await memory.blocks.change(
        anna.id, "human", by=by, soft_limit=5, hard_limit=10, description="d", metadata={"k": 1}
    )
    assert (changed.hard_limit, changed.description, changed.metadata) == (10, "d", {"k": 1})
    assert changed.value == "x" * 100
    with pytest.raises(OverLimit):
        await memory.blocks.append(anna.id, "human", "y", by=by)
    with pytest.raises(InvalidEntry, match="soft_limit"):
        await memory.blocks.change(anna.id, "human", by=by, hard_limit=4)
    wrong: Any = {"value": "not this way", "colour": "red"}
    with pytest.raises(InvalidEntry) as refused:
        await memory.blocks.change(anna.id, "human", by=by, **wrong)
    assert {problem.path for problem in refused.value.problems} == {"/value", "/colour"}


async def test_a_label_brings_its_own_limits(memory: Memory, by: Actor) -> None:
    style = await memory.labels.new("style", "short")
    assert (style.value, style.hard_limit, style.soft_limit) == ("short", 2000, 1600)
    assert await memory.labels.new("notes") == NewBlock("notes")
    assert len(await memory.labels.defaults()) == 6


async def test_appends_of_many_at_once_are_all_kept(memory: Memory, by: Actor, anna: Agent) -> None:
    await memory.blocks.create(anna.id, NewBlock("log"), by=by)
    await asyncio.gather(
        *(memory.blocks.append(anna.id, "log", f"line {number}", by=by) for number in range(50))
    )
    lines = (await memory.blocks.read(anna.id, "log")).value.split("\n")
    assert sorted(lines) == sorted(f"line {number}" for number in range(50))


async def test_where_a_block_comes_from_is_kept(memory: Memory, by: Actor, anna: Agent) -> None:
    block = await memory.blocks.create(
        anna.id, NewBlock("notes", provenance="imported", type="project", project="/p"), by=by
    )
    assert (block.provenance, block.type, block.project) == ("imported", "project", "/p")


async def test_a_read_only_block_is_not_deleted_by_letting_go_of_it(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    with pytest.raises(ReadOnlyBlock, match="deleting"):
        await memory.blocks.detach(anna.id, "skills", by=by)
    bert = await memory.agents.create(NewAgent("bert"), by=by, blocks=[])
    skills = await memory.blocks.read(anna.id, "skills")
    await memory.blocks.attach(bert.id, skills.id, by=by)
    await memory.blocks.detach(anna.id, "skills", by=by)
    assert await memory.blocks.read(bert.id, "skills") == skills
    await memory.blocks.detach(bert.id, "skills", by=by, as_owner=True)
    with pytest.raises(NoSuchBlock):
        await memory.blocks.get(skills.id)


@pytest.mark.parametrize("label", ["", " ", "a\0b", "\ud800"])
async def test_a_block_is_not_held_as_what_cannot_be_a_label(
    memory: Memory, by: Actor, anna: Agent, label: str
) -> None:
    team = await memory.blocks.create(None, NewBlock("team", type="shared"), by=by)
    with pytest.raises(InvalidEntry, match="/label"):
        await memory.blocks.attach(anna.id, team.id, by=by, label=label)


async def test_at_most_less_than_none_is_none(memory: Memory, by: Actor, anna: Agent) -> None:
    assert await memory.blocks.find(limit=-1) == ()
    assert await memory.agents.list(limit=-1) == ()
    assert await memory.events.list(limit=-1) == ()
    assert await memory.turns.list(anna.id, limit=-1) == ()
    assert await memory.letters.list(anna.id, limit=-1) == ()
