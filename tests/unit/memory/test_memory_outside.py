"""What is in scope is found, in its order, however many others outside of it fit better."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from campaigns import REMEMBERED, SOAK, campaign, settled
from memory_world import Ticking

from dcf.memory import Actor, ExperimentMemory, Memory, NewEntry, NewNode, Source, random_id

pytestmark = settled(*REMEMBERED, "dcf/workspace")

BY = Actor("user", "ada")
OUTSIDE = 100_000 if SOAK else 4_000
"""Entries of siblings; in `make test` one place more of each search than a narrow scope has."""
WORDS = ("plum", "loss", "diverges", "warmup", "kernel", "batch", "seed", "gradient")
KINDS = ("note", "reflection", "failure_case", "experiment_result")
QUERY = "plum loss diverges"


async def grown(memory: Memory, rng: Random) -> tuple[list[str], str]:
    """A lineage with a few entries that say a word of the query, or none; its names, and the id of
    its last node."""
    names, parent = [], None
    for depth in range(rng.randint(2, 6)):
        texts = [
            NewEntry(
                " ".join(rng.choices(WORDS, k=rng.randint(1, 12))),
                rng.choice(KINDS),
                {"artifacts": ["m.json"]} if rng.random() < 0.3 else {},
            )
            for _ in range(rng.randint(1, 8))
        ]
        new = NewNode("lab", "exp", f"n{depth}", parent)
        parent = (await memory.nodes.add(new, *texts, by=BY)).id
        names.append(f"n{depth}")
    assert parent is not None
    return names, parent


async def answers(memory: Memory, names: list[str], node: str, k: int) -> list[object]:
    """What every search in scope gives: ids in their order, and scores."""
    experiment = ExperimentMemory(memory, "lab", "exp", by=BY, environment={})
    found: list[object] = []
    for more in ({}, {"entry_kinds": ["reflection"]}, {"having": ["artifacts"]}):
        for query in (QUERY, "warmup", ""):
            hits = await memory.search.find(query, node=node, k=k, **more)  # type: ignore[arg-type]
            found.append([(one.ref, round(one.score, 6)) for one in hits])
    for kinds in ((), ("note", "failure_case")):
        answer = await experiment.search_research_memory(QUERY, names, kinds, limit=k)
        found.append([(one["entry_id"], round(one["score"], 6)) for one in answer["results"]])
    return found


@pytest.mark.timeout(900)
@campaign(4)
@pytest.mark.parametrize("embedder", ["none", "wordllama"])
def test_what_is_in_scope_is_found_as_if_there_was_nothing_else(share: int, embedder: str) -> None:
    async def run(folder: Path) -> None:
        source, rng = Source(folder / "m.db"), Random(share)
        async with Memory.open(
            source, clock=Ticking(), new_id=random_id, embedder=embedder
        ) as memory:
            names, node = await grown(memory, rng)
            await memory.search.catch_up()
            k = rng.randint(1, 40)
            alone = await answers(memory, names, node, k)
            first = await memory.nodes.named("lab", "exp", "n0")
            for number in range(4):
                # A sibling of the first, children of it, and one below the node that asks.
                parent = (None, first.id, first.id, node)[number]
                new = NewNode("lab", "exp", f"other{number}", parent)
                texts = [
                    NewEntry(f"{QUERY} {QUERY} {at}", rng.choice(KINDS), {"artifacts": ["x"]})
                    for at in range(OUTSIDE // 4)
                ]
                other = await memory.nodes.add(new, by=BY)
                for start in range(0, len(texts), 5_000):
                    await memory.nodes.write(other.id, *texts[start : start + 5_000], by=BY)
            await memory.search.catch_up()
            assert await answers(memory, names, node, k) == alone
            assert any(alone)

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
