"""Ways to nodes: whoever comes by the same way comes to the same node, and makes it once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    ContextSetting,
    Memory,
    NewEntry,
    NewNode,
    Node,
    NodeStep,
    Source,
    random_id,
)

BY = Actor("system", "worker")
RUN = NodeStep("run", "first", "run")
ITERATION = NodeStep("Fan[2]", "10", "iteration")


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


async def lineage(memory: Memory, node: Node) -> list[str]:
    return [one.called for one in await memory.nodes.lineage(node.id)]


async def test_a_way_is_made_once_whoever_goes_it(memory: Memory, tmp_path: Path) -> None:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=random_id) as other:
        ways = [one.nodes.reach("shop", "r1", [RUN, ITERATION], by=BY) for one in (memory, other)]
        found = await asyncio.gather(*ways, *(_again(memory) for _ in range(6)))

    assert {one.id for one in found} == {found[0].id}
    assert await lineage(memory, found[0]) == ["shop", "r1/run", "r1/Fan[2]"]


async def _again(memory: Memory) -> Node:
    return await memory.nodes.reach("shop", "r1", [RUN, ITERATION], by=BY)


async def test_reading_makes_nothing_and_stops_at_what_there_is(memory: Memory) -> None:
    async def nearest(*steps: NodeStep) -> str | None:
        node = await memory.nodes.nearest("shop", "r1", steps)
        return None if node is None else node.called

    assert await nearest(RUN, ITERATION) is None
    await memory.nodes.add(NewNode("shop", "other", "base"), by=BY)
    assert await nearest(RUN, ITERATION) == "shop"
    await memory.nodes.reach("shop", "r1", [RUN], by=BY)
    assert await nearest(RUN, ITERATION) == "r1/run"
    await memory.nodes.reach("shop", "r1", [RUN, ITERATION], by=BY)
    assert await nearest(RUN, ITERATION) == "r1/Fan[2]"
    assert await nearest(RUN, replace(ITERATION, mark="11")) == "r1/run"
    assert await nearest(RUN, replace(ITERATION, mark="11", follows=True)) == "r1/Fan[2]"


async def test_without_steps_the_way_ends_at_the_root(memory: Memory) -> None:
    root = await memory.nodes.reach("shop", "r1", [], by=BY)

    assert root.is_root and root.called == "shop"


async def test_a_context_has_what_the_node_reads_and_branches_in_full(memory: Memory) -> None:
    run = await memory.nodes.reach("shop", "r1", [RUN], by=BY)
    branch = await memory.nodes.reach("shop", "r1", [RUN, ITERATION], by=BY)
    long = "Figs are sweet. " * 20
    for node, text in ((run, "Plums are blue."), (branch, long)):
        await memory.nodes.write(node.id, NewEntry(text), by=BY)

    async def told(**more: Any) -> str:
        setting = ContextSetting("index", details_tokens=200)
        return (await memory.contexts.of_work("shop", "orders", setting, **more)).text

    assert await told() == ""
    assert "Plums are blue." in await told(node=run.id) and "Figs" not in await told(node=run.id)
    both = await told(node=run.id, branches=[branch.id])
    assert both.count("Plums are blue.") == 1 and long.strip() in both
    assert long.strip() not in await told(node=branch.id), "an index has a line of each"
    small = ContextSetting("index", index_tokens=0, details_tokens=10)
    cut = await memory.contexts.of_work("shop", "orders", small, branches=[branch.id])
    assert (cut.text, cut.left_out) == ("Not shown here: 1 more.", 1)


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        # What is done again with other input knows nothing of the first time …
        ([RUN, replace(ITERATION, mark="11")], ["shop", "r1/run", "r1/Fan[2]~2"]),
        # … what is tried again does.
        (
            [RUN, replace(ITERATION, mark="11", follows=True)],
            ["shop", "r1/run", "r1/Fan[2]", "r1/Fan[2]~2"],
        ),
        # Another run that has the id of one that was removed begins anew.
        (
            [replace(RUN, mark="second"), replace(ITERATION, mark="11", follows=True)],
            ["shop", "r1/run~2", "r1/Fan[2]~2"],
        ),
    ],
)
async def test_the_same_name_with_another_mark_is_another_node(
    memory: Memory, again: Sequence[NodeStep], expected: list[str]
) -> None:
    first = await memory.nodes.reach("shop", "r1", [RUN, ITERATION], by=BY)

    second = await memory.nodes.reach("shop", "r1", again, by=BY)

    assert await lineage(memory, second) == expected
    assert (await memory.nodes.reach("shop", "r1", again, by=BY)).id == second.id
    assert (await memory.nodes.reach("shop", "r1", [RUN, ITERATION], by=BY)).id == first.id
