"""Observations that a person puts into a block: with their addresses, once, and back again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcf.memory import (
    Actor,
    Artifact,
    Memory,
    NewAgent,
    NewBlock,
    NewObservation,
    Observation,
    Origin,
    OverLimit,
    ReadOnlyBlock,
    Texts,
    UnknownBlock,
    UnknownObservation,
)

NEW = NewObservation(
    "bugfix",
    "The gateway answers twice",
    Origin("run", "r-1"),
    project="/bank",
    workflow="payments",
    subtitle="A retry was taken for an order.",
    facts=("ids are checked",),
    narrative="It says nothing of it.",
    artifacts=(Artifact("file", "pay.py", "modified"),),
)


@pytest.fixture
async def seen(memory: Memory, by: Actor) -> tuple[Observation, ...]:
    await memory.agents.create(NewAgent("ann"), by=by, agent_id="ann", blocks=[])
    await memory.blocks.create("ann", NewBlock("notes", "before"), by=by)
    other = replace(NEW, title="b", subtitle="", facts=(), narrative="", artifacts=())
    return await memory.observations.add(NEW, other, by=by)


async def text(memory: Memory) -> str:
    return (await memory.blocks.read("ann", "notes")).value


async def test_all_of_it_stands_in_the_block_with_its_address(
    memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    one, two = seen
    done = await memory.observations.promote([one.id, two.id], "ann", "notes", by=by)
    assert (
        await text(memory)
        == done.block.value
        == (
            "before\n"
            "**The gateway answers twice** (bugfix)\n"
            "A retry was taken for an order.\n"
            "- ids are checked\n"
            "It says nothing of it.\n"
            "Touched: pay.py (modified)\n"
            f"(dcf://observation/{one.id})\n"
            "**b** (bugfix)\n"
            f"(dcf://observation/{two.id})"
        )
    )
    assert (done.added, done.already) == ((one, two), ())
    context = await memory.contexts.assemble("ann")
    assert one.title in context.system, "whose project and workflow are others is told it"


async def test_what_is_there_is_not_added_again(
    memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    one, two = seen
    await memory.observations.promote([one.id, one.id], "ann", "notes", by=by)
    before, last = await text(memory), await memory.events.last()
    again = await memory.observations.promote([one.id], "ann", "notes", by=by)
    assert (again.added, again.already, again.event) == ((), (one,), None)
    edited = await memory.observations.edit(one.id, Texts(title="c"), by=by)
    more = await memory.observations.promote([one.id, two.id], "ann", "notes", by=by)
    assert (more.added, more.already) == ((two,), (edited,))
    assert await text(memory) == f"{before}\n**b** (bugfix)\n(dcf://observation/{two.id})"
    assert await memory.events.last() == last + 2


async def test_an_address_in_a_sentence_is_not_the_observation(
    memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    await memory.blocks.write("ann", "notes", f"see (dcf://observation/{seen[1].id}).", by=by)
    done = await memory.observations.promote([seen[1].id], "ann", "notes", by=by)
    assert done.added == (seen[1],)


async def test_a_rollback_takes_all_of_it_out(
    memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    done = await memory.observations.promote([one.id for one in seen], "ann", "notes", by=by)
    assert done.event is not None
    await memory.events.undo(done.event, by=by)
    assert await text(memory) == "before"
    again = await memory.observations.promote([seen[0].id], "ann", "notes", by=by)
    assert again.added == seen[:1]


async def test_a_trial_changes_nothing(
    memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    last = await memory.events.last()
    tried = await memory.observations.promote([seen[1].id], "ann", "notes", by=by, dry_run=True)
    assert tried.block.value == f"before\n**b** (bugfix)\n(dcf://observation/{seen[1].id})"
    assert (tried.added, tried.event) == (seen[1:], None)
    assert (await text(memory), await memory.events.last()) == ("before", last)


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("on_limit", ["reject", "truncate"])
async def test_what_does_not_fit_whole_is_refused(
    on_limit: str,
    dry_run: bool,
    memory: Memory,
    by: Actor,
    seen: tuple[Observation, ...],
) -> None:
    one, two = seen
    room = len(f"before\n**b** (bugfix)\n(dcf://observation/{two.id})")
    await memory.blocks.change("ann", "notes", by=by, hard_limit=room, on_limit=on_limit)
    with pytest.raises(OverLimit, match=f"its limit is {room}"):
        await memory.observations.promote([two.id, one.id], "ann", "notes", by=by, dry_run=dry_run)
    assert await text(memory) == "before"
    await memory.observations.promote([two.id], "ann", "notes", by=by)


async def test_a_limit_that_only_warns_is_told(
    memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    await memory.blocks.change("ann", "notes", by=by, hard_limit=10, on_limit="warn")
    for dry_run in (True, False):
        done = await memory.observations.promote(
            [seen[1].id], "ann", "notes", by=by, dry_run=dry_run
        )
        assert "more than its limit of 10" in (done.block.warning or "")


@pytest.mark.parametrize("dry_run", [False, True])
async def test_what_is_not_there_is_told(
    dry_run: bool, memory: Memory, by: Actor, seen: tuple[Observation, ...]
) -> None:
    promote = memory.observations.promote
    with pytest.raises(UnknownBlock):
        await promote([seen[0].id], "ann", "other", by=by, dry_run=dry_run)
    with pytest.raises(UnknownObservation):
        await promote([seen[0].id, "observation-0"], "ann", "notes", by=by, dry_run=dry_run)
    await memory.blocks.change("ann", "notes", by=by, read_only=True, as_owner=True)
    with pytest.raises(ReadOnlyBlock):
        await promote([seen[0].id], "ann", "notes", by=by, dry_run=dry_run)
    assert await text(memory) == "before"
