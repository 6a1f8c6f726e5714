"""How fast a full memory is searched: ``python -m benchmarks.memory_search``.

A thousand agents with ten blocks each and a hundred passages each, in one file. With
``--observations N`` instead observations of ten projects and all their vectors: how fast they are
taken in and found, in a project and in all. With ``--nodes N`` instead a tree of nodes, 50 deep,
with ten entries each: how fast it grows, and what is read and found in its deepest nodes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import Figure, quantile
from dcf.memory import (
    CONCEPTS,
    SYSTEM,
    TYPES,
    Memory,
    NewAgent,
    NewBlock,
    NewEntry,
    NewNode,
    NewObservation,
    NewPassage,
    Origin,
    Source,
    random_id,
)

_BLOCKS = 10
_PASSAGES = 100
_PROJECTS = 10
_AT_ONCE = 1_000
_DEPTH = 50
_ENTRIES = 10
_WORDS = tuple(
    f"{start}{middle}{end}"
    for start in ("bar", "den", "fol", "gar", "hol", "kin", "lum", "mor", "nat", "pel")
    for middle in ("a", "e", "i", "o", "u", "an", "er", "il", "on", "us")
    for end in ("d", "ck", "ft", "gle", "mp", "nt", "pper", "rk", "st", "tch", "v", "w", "x", "zz")
)
# A few words are in nearly every text, most in few, as in what people write.
_OFTEN = tuple(1 / (place + 3) for place in range(len(_WORDS)))


async def memory_search(scratch: Path, *, agents: int = 1_000, searches: int = 300) -> list[Figure]:
    """Searching in one agent's memory and in everybody's, by words and with the default embedder,
    which has compared what it could read."""
    chance = random.Random(11)
    source = Source(scratch / "memory-search.db")
    figures = []
    async with Memory.open(source, clock=_now, new_id=random_id, embedder="none") as memory:
        began = time.perf_counter()
        ids = await _fill(memory, agents, chance)
        texts = agents * (_BLOCKS + _PASSAGES)
        took_s = time.perf_counter() - began
        figures.append(
            Figure(f"{texts:,} texts written and indexed, each", took_s / texts * 1e3, "ms")
        )
        figures += await _searched(memory, ids, chance, searches, "words")
    async with Memory.open(source, clock=_now, new_id=random_id) as memory:
        began = time.perf_counter()
        await memory.search.catch_up()
        figures.append(Figure("their meanings, caught up", time.perf_counter() - began, "s"))
        figures += await _searched(memory, ids, chance, searches, "wordllama")
    size = source.path.stat().st_size / 1e6
    return [*figures, Figure("memory file with index and meanings", size, "MB")]


async def observation_search(
    source: Source, *, observations: int = 100_000, searches: int = 100
) -> list[Figure]:
    """Taking in ``observations`` in batches, and searching in a tenth of them and in all, by words
    and meanings. Times of the processor too: others on the machine hardly change those."""
    chance = random.Random(11)
    async with Memory.open(source, clock=_now, new_id=random_id) as memory:
        await memory.search.catch_up()
        written, vectors = [], []
        for start in range(0, observations, _AT_ONCE):
            new = [_observation(chance, start + number) for number in range(_AT_ONCE)]
            written.append(await _took(memory.observations.add(*new, by=SYSTEM)))
            vectors.append(await _took(memory.search.catch_up()))
    both = [one + other for one, other in zip(written, vectors, strict=True)]
    figures = []
    for name, each in (("written", written), ("their meanings", vectors), ("both", both)):
        figures += _rates(f"{observations:,} observations: {name}", each)
    async with Memory.open(source, clock=_now, new_id=random_id) as memory:
        first = await _took(memory.search.find(_query(chance)))
        figures.append(Figure("the first search of a process", first.wall_s * 1e3, "ms"))
        tenth, everything = [], []
        for _ in range(searches):
            project = f"project {chance.randrange(_PROJECTS)}"
            tenth.append(await _took(memory.search.find(_query(chance), projects=[project])))
            everything.append(await _took(memory.search.find(_query(chance))))
    figures += [*_times("search of a project", tenth), *_times("search of all", everything)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    size = source.path.stat().st_size / 1e6
    return [*figures, Figure("the process at most", peak, "MB"), Figure("the file", size, "MB")]


async def node_search(source: Source, *, nodes: int = 100_000, searches: int = 300) -> list[Figure]:
    """A tree of ``nodes`` in branches of fifty, each with ten entries, and what is read and found
    in the last of a branch."""
    chance = random.Random(11)
    made, written, vectors = [], [], []
    ends: list[str] = []
    async with Memory.open(source, clock=_now, new_id=random_id) as memory:
        await memory.search.catch_up()
        parent: str | None = None
        for number in range(nodes):
            above = None if number % _DEPTH == 0 else parent
            wall, processor = time.perf_counter(), time.process_time()
            node = await memory.nodes.add(NewNode("lab", "x", f"{number}", above), by=SYSTEM)
            made.append(_Took(time.perf_counter() - wall, time.process_time() - processor))
            parent = node.id
            entries = [NewEntry(_text(chance)) for _ in range(_ENTRIES)]
            written.append(await _took(memory.nodes.write(node.id, *entries, by=SYSTEM)))
            if number % _DEPTH == _DEPTH - 1:
                ends.append(parent)
            if number % _AT_ONCE == _AT_ONCE - 1:
                vectors.append(await _took(memory.search.catch_up()))
    figures = _times(f"{nodes:,} nodes: one more", made)
    figures += _times(f"{_ENTRIES} entries into one", written)
    async with Memory.open(source, clock=_now, new_id=random_id) as memory:
        await memory.search.find(_query(chance), node=ends[0])
        found, read, moved = [], [], []
        for _ in range(searches):
            node_id, other = chance.choice(ends), chance.choice(ends)
            found.append(await _took(memory.search.find(_query(chance), node=node_id)))
            read.append(await _took(memory.nodes.entries(node_id, limit=1_000)))
            lineage = await memory.nodes.lineage(node_id)
            if all(one.id != other for one in lineage):
                moved.append(await _took(memory.nodes.move(lineage[1].id, other, by=SYSTEM)))
                root = lineage[0].id
                await memory.nodes.move(lineage[1].id, root, by=SYSTEM)
    figures += [*_times("search of 500 entries", found), *_times("reading them", read)]
    size = source.path.stat().st_size / 1e6
    return [*figures, *_times("moving a branch", moved), Figure("the file", size, "MB")]


@dataclass(frozen=True, slots=True)
class _Took:
    wall_s: float
    processor_s: float

    def __add__(self, other: _Took) -> _Took:
        return _Took(self.wall_s + other.wall_s, self.processor_s + other.processor_s)


async def _took(work: Awaitable[object]) -> _Took:
    wall, processor = time.perf_counter(), time.process_time()
    await work
    return _Took(time.perf_counter() - wall, time.process_time() - processor)


def _rates(name: str, batches: Sequence[_Took]) -> list[Figure]:
    """Observations a second in the median batch, and in the first tenth of the fastest."""
    walls = [one.wall_s for one in batches]
    processor_s = quantile([one.processor_s for one in batches], 0.5)
    return [
        Figure(f"{name}, p50", _AT_ONCE / quantile(walls, 0.5), "a second"),
        Figure(f"{name}, fastest tenth", _AT_ONCE / quantile(walls, 0.1), "a second"),
        Figure(f"{name}, processor", processor_s / _AT_ONCE * 1e3, "ms each"),
    ]


def _times(name: str, searches: Sequence[_Took]) -> list[Figure]:
    walls = [one.wall_s * 1e3 for one in searches]
    processor = [one.processor_s * 1e3 for one in searches]
    return [
        Figure(f"{name}, p50", quantile(walls, 0.5), "ms"),
        Figure(f"{name}, p95", quantile(walls, 0.95), "ms"),
        Figure(f"{name}, processor, p50", quantile(processor, 0.5), "ms"),
        Figure(f"{name}, processor, p95", quantile(processor, 0.95), "ms"),
    ]


async def _fill(memory: Memory, agents: int, chance: random.Random) -> list[str]:
    ids = []
    for number in range(agents):
        agent = await memory.agents.create(
            NewAgent(f"agent {number}"),
            by=SYSTEM,
            blocks=[NewBlock(f"block{block}", _text(chance)) for block in range(_BLOCKS)],
        )
        await memory.passages.insert(
            agent.id, *(NewPassage(_text(chance)) for _ in range(_PASSAGES)), by=SYSTEM
        )
        ids.append(agent.id)
    return ids


async def _searched(
    memory: Memory, ids: Sequence[str], chance: random.Random, searches: int, how: str
) -> list[Figure]:
    own, everybody = [], []
    await memory.search.find("warm up")
    for _ in range(searches):
        query = _query(chance)
        own.append(await _timed(memory, query, [chance.choice(ids)]))
        everybody.append(await _timed(memory, query, None))
    count = len(ids) * (_BLOCKS + _PASSAGES)
    return [
        Figure(f"search of one agent ({how}), p50", quantile(own, 0.5), "ms"),
        Figure(f"search of one agent ({how}), p95", quantile(own, 0.95), "ms"),
        Figure(f"search of {count:,} texts ({how}), p50", quantile(everybody, 0.5), "ms"),
        Figure(f"search of {count:,} texts ({how}), p95", quantile(everybody, 0.95), "ms"),
    ]


async def _timed(memory: Memory, query: str, agent_ids: Sequence[str] | None) -> float:
    began = time.perf_counter()
    await memory.search.find(query, agent_ids=agent_ids)
    return (time.perf_counter() - began) * 1e3


def _query(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, _OFTEN, k=6))


def _observation(chance: random.Random, number: int) -> NewObservation:
    return NewObservation(
        chance.choice(TYPES),
        f"{number} {' '.join(chance.choices(_WORDS, _OFTEN, k=6))}",
        Origin("thread", f"thread-{number // 50}", number % 50 + 1),
        project=f"project {number % _PROJECTS}",
        facts=(_text(chance, 20), _text(chance, 20)),
        narrative=_text(chance),
        concepts=(chance.choice(CONCEPTS),),
    )


def _text(chance: random.Random, longest: int = 60) -> str:
    return " ".join(chance.choices(_WORDS, _OFTEN, k=chance.randrange(8, longest)))


def _now() -> int:
    return round(time.time() * 1000)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.memory_search", description=__doc__)
    parser.add_argument("--observations", type=int, metavar="N")
    parser.add_argument("--nodes", type=int, metavar="N")
    parser.add_argument("--key", help="of an encrypted file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dcf-memory-search-") as folder:
        source = Source(Path(folder) / "observations.db", options.key)
        if options.nodes:
            measured = node_search(source, nodes=options.nodes)
        elif options.observations:
            measured = observation_search(source, observations=options.observations)
        else:
            measured = memory_search(Path(folder))
        for figure in asyncio.run(measured):
            print(f"{figure.name:<52} {figure.value:>8.2f} {figure.unit}")


if __name__ == "__main__":
    main()
