"""How fast a full memory is searched: ``python -m benchmarks.memory_search``.

A thousand agents with ten blocks each and a hundred passages each, in one file.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figure import Figure, quantile
from dcf.memory import SYSTEM, Memory, NewAgent, NewBlock, NewPassage, Source, random_id

_BLOCKS = 10
_PASSAGES = 100
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
        query = " ".join(chance.choices(_WORDS, _OFTEN, k=6))
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


def _text(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, _OFTEN, k=chance.randrange(8, 60)))


def _now() -> int:
    return round(time.time() * 1000)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dcf-memory-search-") as folder:
        for figure in asyncio.run(memory_search(Path(folder))):
            print(f"{figure.name:<52} {figure.value:>8.2f} {figure.unit}")
