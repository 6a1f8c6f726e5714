"""Memory blocks of a runtime's agents."""

from __future__ import annotations

import pytest

from dcf.agents import AgentRuntime
from dcf.memory import (
    Actor,
    NewAgent,
    NewBlock,
    OverLimit,
    ReadOnlyBlock,
    RevisionConflict,
    UnknownBlock,
)


async def test_a_written_block_is_read_again(runtime: AgentRuntime, by: Actor) -> None:
    agent = await runtime.create(NewAgent("scout"), [NewBlock("notes", "old")], by=by)
    await runtime.write_block(agent.id, "notes", "new – neu – 新", by=by)
    assert (await runtime.block(agent.id, "notes")).value == "new – neu – 新"
    assert [block.label for block in await runtime.blocks(agent.id)] == ["notes"]


async def test_an_unknown_label_is_told_with_those_there_are(
    runtime: AgentRuntime, by: Actor
) -> None:
    agent = await runtime.create(NewAgent("scout"), [NewBlock("notes")], by=by)
    with pytest.raises(UnknownBlock, match="notes"):
        await runtime.block(agent.id, "note")
    with pytest.raises(UnknownBlock):
        await runtime.write_block(agent.id, "note", "x", by=by)


async def test_a_text_over_the_hard_limit_is_refused_and_the_old_one_stays(
    runtime: AgentRuntime, by: Actor
) -> None:
    agent = await runtime.create(
        NewAgent("scout"), [NewBlock("notes", "old", hard_limit=10)], by=by
    )
    with pytest.raises(OverLimit):
        await runtime.write_block(agent.id, "notes", "x" * 11, by=by)
    assert (await runtime.block(agent.id, "notes")).value == "old"
    await runtime.write_block(agent.id, "notes", "x" * 10, by=by)


async def test_a_read_only_block_is_not_written(runtime: AgentRuntime, by: Actor) -> None:
    agent = await runtime.create(
        NewAgent("scout"), [NewBlock("rules", "fixed", read_only=True)], by=by
    )
    with pytest.raises(ReadOnlyBlock):
        await runtime.write_block(agent.id, "rules", "loose", by=by)
    assert (await runtime.block(agent.id, "rules")).value == "fixed"


async def test_a_write_on_what_others_changed_is_refused(runtime: AgentRuntime, by: Actor) -> None:
    agent = await runtime.create(NewAgent("scout"), [NewBlock("notes", "one")], by=by)
    seen = await runtime.block(agent.id, "notes")
    await runtime.write_block(agent.id, "notes", "two", by=by, expected=seen.revision)
    with pytest.raises(RevisionConflict):
        await runtime.write_block(agent.id, "notes", "three", by=by, expected=seen.revision)
    assert (await runtime.block(agent.id, "notes")).value == "two"


async def test_a_shared_block_is_the_same_for_all_who_hold_it(
    runtime: AgentRuntime, by: Actor
) -> None:
    first = await runtime.create(NewAgent("first"), [], by=by)
    second = await runtime.create(NewAgent("second"), [], by=by)
    shared = await runtime.create_block(NewBlock("team", "plan A", type="shared"), by=by)
    for agent in (first, second):
        await runtime.attach_block(agent.id, shared.id, by=by)
    await runtime.write_block(first.id, "team", "plan B", by=by)
    assert (await runtime.block(second.id, "team")).value == "plan B"

    await runtime.detach_block(first.id, "team", by=by)
    with pytest.raises(UnknownBlock):
        await runtime.block(first.id, "team")
    await runtime.delete(second.id, by=by)
    await runtime.attach_block(first.id, shared.id, by=by)
    assert (await runtime.block(first.id, "team")).value == "plan B", "it outlives its holders"
