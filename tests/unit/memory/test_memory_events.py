"""Events: every change says who, what, before and after; and there is a way back."""

from __future__ import annotations

from typing import Any

import pytest

from dcf.memory import (
    Actor,
    Agent,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    NewPassage,
    NoSuchBlock,
    RollbackRefused,
    UnknownAgent,
)
from dcf.memory.blocks import held_row, write_block

BOT = Actor("agent", "agent-1", "the user said so")


@pytest.fixture
async def anna(memory: Memory, by: Actor) -> Agent:
    return await memory.agents.create(NewAgent("anna"), by=by)


async def test_a_write_says_who_what_before_and_after(memory: Memory, anna: Agent) -> None:
    await memory.blocks.write(anna.id, "human", "likes tea", by=BOT)
    block = await memory.blocks.write(anna.id, "human", "likes green tea", by=BOT)
    event = (await memory.events.list(limit=1))[0]
    assert event.by == BOT
    assert (event.operation, event.entity, event.entity_id) == ("updated", "block", block.id)
    assert (event.agent_id, event.label) == (anna.id, "human")
    edit = event.change["changed"]["value"]
    assert (edit["at"], edit["removed"], edit["added"]) == (6, "", "green ")
    assert set(event.change["changed"]) == {"value"}


async def test_history_is_asked_by_agent_label_operation_and_time(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    bert = await memory.agents.create(NewAgent("bert"), by=by, blocks=[])
    await memory.blocks.write(anna.id, "human", "one", by=by)
    noon = (await memory.events.list(limit=1))[0].at
    await memory.blocks.write(anna.id, "human", "two", by=by)
    await memory.blocks.detach(anna.id, "style", by=by)

    async def seen(**query: Any) -> list[str]:
        return [event.operation for event in await memory.events.list(**query)]

    assert await seen(agent_id=bert.id) == ["created"]
    assert await seen(agent_id=anna.id, label="human") == [
        "updated",
        "updated",
        "attached",
        "created",
    ]
    assert await seen(operation="detached") == ["detached"]
    assert await seen(since=noon + 1) == ["deleted", "detached", "updated"]
    assert await seen(block_id=(await memory.blocks.read(anna.id, "human")).id) == [
        "updated",
        "updated",
        "created",
    ]


async def test_history_is_read_page_by_page_newest_first(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    pages: list[int] = []
    before = None
    while page := await memory.events.list(agent_id=anna.id, limit=5, before=before):
        pages += [event.seq for event in page]
        before = page[-1].seq
    assert pages == list(range(await memory.events.last(), 0, -1))


async def test_the_text_at_any_event_is_known(memory: Memory, by: Actor, anna: Agent) -> None:
    texts = {}
    block = await memory.blocks.create(anna.id, NewBlock("n", "zero"), by=by)
    for text in ("zero", "one\ntwo", "", "ümläüte", "one", "one"):
        await memory.blocks.write(anna.id, "n", text, by=by)
        texts[await memory.events.last()] = text
    await memory.blocks.delete(anna.id, "n", by=by)
    for seq, text in texts.items():
        assert await memory.events.text(block.id, seq) == text
    assert await memory.events.text(block.id, await memory.events.last()) is None
    assert await memory.events.text(block.id, 0) is None


async def test_a_block_goes_back_to_any_event(memory: Memory, by: Actor, anna: Agent) -> None:
    block = await memory.blocks.write(anna.id, "human", "one", by=by)
    then = await memory.events.last()
    await memory.blocks.write(anna.id, "human", "two", by=by)
    await memory.blocks.change(anna.id, "human", by=by, description="other", hard_limit=9999)
    events = await memory.events.roll_back_block(block.id, then, by=BOT)
    back = await memory.blocks.read(anna.id, "human")
    assert (back.value, back.description, back.hard_limit) == ("one", block.description, 4000)
    assert back.revision == block.revision + 3, "who saw an earlier revision has not seen this one"
    assert [(one.operation, one.back_to, one.by) for one in events] == [("rolled_back", then, BOT)]


async def test_a_rollback_can_be_rolled_back(memory: Memory, by: Actor, anna: Agent) -> None:
    block = await memory.blocks.write(anna.id, "human", "one", by=by)
    then = await memory.events.last()
    await memory.blocks.write(anna.id, "human", "two", by=by)
    now = await memory.events.last()
    await memory.events.roll_back_block(block.id, then, by=by)
    await memory.events.roll_back_block(block.id, now, by=by)
    assert (await memory.blocks.read(anna.id, "human")).value == "two"


async def test_a_deleted_block_comes_back_where_it_was(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    block = await memory.blocks.write(anna.id, "human", "one", by=by)
    then = await memory.events.last()
    await memory.blocks.delete(anna.id, "human", by=by)
    await memory.events.roll_back_block(block.id, then, by=by)
    back = await memory.blocks.list(anna.id)
    assert [one.label for one in back][:2] == ["persona", "human"]
    assert (back[1].id, back[1].value) == (block.id, "one")
    assert back[1].revision > block.revision


async def test_a_revision_never_comes_twice(memory: Memory, by: Actor, anna: Agent) -> None:
    """Or a writer who saw the one would overwrite the other."""
    block = await memory.blocks.write(anna.id, "human", "one", by=by)
    then = await memory.events.last()
    revisions = [block.revision]
    for _ in range(3):
        await memory.blocks.delete(anna.id, "human", by=by)
        await memory.events.roll_back_block(block.id, then, by=by)
        revisions.append((await memory.blocks.get(block.id)).revision)
    assert revisions == [2, 3, 4, 5]


async def test_a_block_that_was_not_there_then_goes(memory: Memory, by: Actor, anna: Agent) -> None:
    then = await memory.events.last()
    block = await memory.blocks.create(anna.id, NewBlock("n", "x"), by=by)
    await memory.events.roll_back_block(block.id, then, by=by)
    with pytest.raises(NoSuchBlock):
        await memory.blocks.get(block.id)


async def test_an_agent_goes_back_with_all_its_blocks(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await memory.blocks.write(anna.id, "human", "one", by=by)
    before = await memory.blocks.list(anna.id)
    then = await memory.events.last()
    await memory.agents.update(anna.id, by=by, name="berta", tags=("t",))
    await memory.blocks.write(anna.id, "human", "two", by=by)
    await memory.blocks.delete(anna.id, "style", by=by)
    await memory.blocks.create(anna.id, NewBlock("new"), by=by)
    await memory.events.roll_back_agent(anna.id, then, by=by)
    assert (await memory.agents.find("anna")).tags == ()
    after = await memory.blocks.list(anna.id)
    assert [(one.id, one.label, one.value) for one in after] == [
        (one.id, one.label, one.value) for one in before
    ]


async def test_an_agent_rolled_back_to_before_it_was_is_gone(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await memory.events.roll_back_agent(anna.id, 0, by=by)
    assert await memory.agents.list() == ()
    with pytest.raises(UnknownAgent):
        await memory.blocks.list(anna.id)


async def test_what_an_agent_said_and_keeps_goes_and_comes_back_with_it(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    said = NewMessage("user", "hello"), NewMessage("assistant", "good day")
    await memory.messages.append(anna.id, *said, by=by)
    await memory.passages.insert(anna.id, NewPassage("the oak is old"), by=by)
    kept = await memory.messages.list(anna.id), await memory.passages.list(anna.id)
    now = await memory.events.last()
    await memory.agents.delete(anna.id, by=by)
    await memory.events.roll_back_agent(anna.id, now, by=by)
    assert kept == (await memory.messages.list(anna.id), await memory.passages.list(anna.id))
    # Messages have no event of their own: they go with the agent whose making is undone.
    now = await memory.events.last()
    await memory.events.roll_back_agent(anna.id, 0, by=by)
    assert await memory.agents.list() == ()
    await memory.events.roll_back_agent(anna.id, now, by=by)
    assert kept == (await memory.messages.list(anna.id), await memory.passages.list(anna.id))


async def test_nothing_to_undo_is_no_change(memory: Memory, by: Actor, anna: Agent) -> None:
    last = await memory.events.last()
    assert await memory.events.roll_back_agent(anna.id, last, by=by) == ()
    assert await memory.events.roll_back_consolidation("none", by=by) == ()
    assert await memory.events.last() == last


async def _consolidate(memory: Memory, agent: Agent, **texts: str) -> None:
    def work(journal: Any) -> None:
        for label, text in texts.items():
            row = held_row(journal.connection, agent.id, label)
            write_block(journal, row, text, agent_id=agent.id, label=label)

    await memory.ledger.change(Actor("consolidator", "c"), work, consolidation_id="c-1")


async def test_a_consolidation_is_undone_as_a_whole(memory: Memory, by: Actor, anna: Agent) -> None:
    for label in ("human", "persona"):
        await memory.blocks.write(anna.id, label, f"long {label}", by=by)
    await _consolidate(memory, anna, human="h", persona="p")
    assert {event.consolidation_id for event in await memory.events.list(limit=2)} == {"c-1"}
    await memory.blocks.write(anna.id, "style", "short", by=by)
    await memory.events.roll_back_consolidation("c-1", by=by)
    texts = {one.label: one.value for one in await memory.blocks.list(anna.id) if one.value}
    assert texts == {"human": "long human", "persona": "long persona", "style": "short"}


async def test_a_later_change_of_another_field_does_not_hold_a_consolidation_up(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await memory.blocks.write(anna.id, "human", "long", by=by)
    await _consolidate(memory, anna, human="h")
    await memory.blocks.change(anna.id, "human", by=by, description="new")
    await memory.events.roll_back_consolidation("c-1", by=by)
    back = await memory.blocks.read(anna.id, "human")
    assert (back.value, back.description) == ("long", "new")


async def test_a_refused_rollback_lists_all_conflicts_and_changes_nothing(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    for label in ("human", "persona", "style"):
        await memory.blocks.write(anna.id, label, f"long {label}", by=by)
    await _consolidate(memory, anna, human="h", persona="p", style="s")
    await memory.blocks.write(anna.id, "human", "h2", by=by)
    human = await memory.events.last()
    await memory.blocks.delete(anna.id, "persona", by=by)
    before = await memory.blocks.list(anna.id), await memory.events.last()
    with pytest.raises(RollbackRefused) as refused:
        await memory.events.roll_back_consolidation("c-1", by=by)
    conflicts = refused.value.conflicts
    assert len(conflicts) == 2
    assert [event.seq for event in conflicts[-1].later] == [human]
    assert [event.operation for event in conflicts[0].later] == ["deleted"]
    assert f"{human} (updated by ada)" in str(refused.value)
    assert before == (await memory.blocks.list(anna.id), await memory.events.last())


async def test_a_block_that_another_agent_took_up_is_not_undone_away(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    bert = await memory.agents.create(NewAgent("bert"), by=by, blocks=[])
    then = await memory.events.last()
    team = await memory.blocks.create(anna.id, NewBlock("team"), by=by)
    await memory.blocks.attach(bert.id, team.id, by=by)
    with pytest.raises(RollbackRefused, match="needs it") as refused:
        await memory.events.roll_back_agent(anna.id, then, by=by)
    assert [one.entity_id for one in refused.value.conflicts] == [team.id]
    assert (await memory.blocks.read(bert.id, "team")).id == team.id


async def test_a_block_whose_agent_is_gone_does_not_come_back_alone(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    block = await memory.blocks.read(anna.id, "human")
    then = await memory.events.last()
    await memory.agents.delete(anna.id, by=by)
    with pytest.raises(RollbackRefused, match="no longer there"):
        await memory.events.roll_back_block(block.id, then, by=by)


async def test_a_name_that_somebody_else_took_holds_the_rollback_up(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    then = await memory.events.last()
    await memory.agents.update(anna.id, by=by, name="was anna")
    other = await memory.agents.create(NewAgent("anna"), by=by, blocks=[])
    with pytest.raises(RollbackRefused, match=other.id):
        await memory.events.roll_back_agent(anna.id, then, by=by)
    await memory.agents.delete(anna.id, by=by)
    with pytest.raises(RollbackRefused, match=other.id):
        await memory.events.roll_back_agent(anna.id, then, by=by)
    await memory.agents.update(other.id, by=by, name="other")
    await memory.events.roll_back_agent(anna.id, then, by=by)
    assert (await memory.agents.find("anna")).id == anna.id


async def test_what_another_agent_wrote_into_a_shared_block_holds_the_rollback_up(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    bert = await memory.agents.create(NewAgent("bert"), by=by, blocks=[])
    team = await memory.blocks.create(anna.id, NewBlock("team", type="shared"), by=by)
    await memory.blocks.attach(bert.id, team.id, by=by)
    then = await memory.events.last()
    await memory.blocks.write(anna.id, "team", "anna's", by=by)
    await memory.blocks.write(bert.id, "team", "bert's", by=by)
    with pytest.raises(RollbackRefused) as refused:
        await memory.events.roll_back_agent(anna.id, then, by=by)
    assert [event.agent_id for event in refused.value.conflicts[0].later] == [bert.id]
    await memory.events.roll_back_agent(bert.id, then, by=by)
    await memory.events.roll_back_agent(anna.id, then, by=by)
    assert (await memory.blocks.read(anna.id, "team")).value == ""


async def test_a_row_noted_before_it_had_a_column_can_be_undone(
    memory: Memory, by: Actor, anna: Agent
) -> None:
    await memory.ledger.change(
        by,
        lambda journal: journal.connection.execute(
            "UPDATE events SET change = json_remove(change, '$.created.embedder')"
            " WHERE entity = 'agent'"
        ),
    )
    await memory.events.roll_back_agent(anna.id, 0, by=by)
    with pytest.raises(UnknownAgent):
        await memory.agents.get(anna.id)
