"""How well a memory finds what was said: ``python -m benchmarks.memory_retrieval FILE...``.

A file has one JSON object a line: ``{corpus, docs: [{id, text, timestamp, speaker, session}],
queries: [{query, relevant: [ids], category}]}``: a conversation and questions about it. The docs
become messages of one agent, each with its speaker and time, and are searched as messages are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figure import quantile
from dcf.memory import SYSTEM, Memory, NewAgent, NewMessage, Source, random_id
from dcf.search import EMBEDDERS


@dataclass(frozen=True, slots=True)
class Recall:
    """``at_10`` is the share of the right messages among the first ten; ``p95_ms`` is of one
    search."""

    at_10: float
    p95_ms: float


async def measure(path: Path, embedder: str) -> Recall:
    """The recall on a file, over the questions of all its conversations."""
    shares: list[float] = []
    took_ms: list[float] = []
    text = await asyncio.to_thread(path.read_text, encoding="utf-8")
    for line in text.splitlines():
        conversation = json.loads(line)
        with tempfile.TemporaryDirectory(prefix="dcf-recall-") as folder:
            source = Source(Path(folder) / "memory.db")
            async with Memory.open(
                source, clock=_now, new_id=random_id, embedder=embedder
            ) as memory:
                await _score(memory, conversation, shares, took_ms)
    return Recall(sum(shares) / len(shares), quantile(took_ms, 0.95))


async def _score(
    memory: Memory, conversation: dict[str, Any], shares: list[float], took_ms: list[float]
) -> None:
    docs = conversation["docs"]
    agent = await memory.agents.create(NewAgent("listener"), by=SYSTEM, blocks=())
    await memory.messages.append(
        agent.id,
        *(
            NewMessage("user", doc["text"], sender=doc["speaker"], session_id=str(doc["session"]))
            for doc in docs
        ),
        by=SYSTEM,
        created_at=[round(doc["timestamp"] * 1000) for doc in docs],
    )
    await memory.search.catch_up()
    for one in conversation["queries"]:
        began = time.perf_counter()
        found = await memory.search.find(
            one["query"], k=10, agent_ids=(agent.id,), kinds=("message",)
        )
        took_ms.append((time.perf_counter() - began) * 1e3)
        ids = {docs[hit.seq - 1]["id"] for hit in found if hit.seq is not None}
        shares.append(len(ids & set(one["relevant"])) / len(one["relevant"]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the recall on the files for every embedder."""
    parser = argparse.ArgumentParser(prog="benchmarks.memory_retrieval", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    options = parser.parse_args(arguments)
    for embedder in options.embedder or EMBEDDERS:
        for path in options.files:
            recall = asyncio.run(measure(path, embedder))
            print(
                f"{embedder:<10} {path.stem:<16} recall@10 {recall.at_10:.3f}"
                f"  p95 {recall.p95_ms:.1f} ms",
                flush=True,
            )


def _now() -> int:
    return round(time.time() * 1000)


if __name__ == "__main__":
    main()
