"""How well a memory finds what was said: ``python -m benchmarks.memory_retrieval FILE...``.

A file has one JSON object a line: ``{corpus, docs: [{id, text, timestamp, speaker, session}],
queries: [{query, relevant: [ids], category}]}``: a conversation and questions about it. The docs
become messages of one agent, each with its speaker and time, and are searched as messages are.

``--packed`` measures contexts instead: what a search finds is quoted in at most 15 % of the tokens
that the whole conversation takes, quoted in the same way; evidence counts when its text is there.
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
from dcf.memory import SYSTEM, Found, Memory, NewAgent, NewMessage, Source, quote, random_id
from dcf.search import EMBEDDERS

_SHARE = 0.15
"""Of the tokens of a whole conversation, that a context may have."""
_QUOTED = 200
"""Texts that are looked for, for a context."""
_ALL = 10**9


@dataclass(frozen=True, slots=True)
class Recall:
    """``mean`` is the share of the right messages that were found, over all questions: among the
    first ten, or in a context; ``p95_ms`` is of one search. ``tokens`` is the largest context, as a
    share of its conversation."""

    mean: float
    p95_ms: float
    tokens: float = 0.0


async def measure(path: Path, embedder: str, *, packed: bool = False) -> Recall:
    """The recall on a file, over the questions of all its conversations."""
    shares: list[float] = []
    took_ms: list[float] = []
    tokens: list[float] = [0.0]
    text = await asyncio.to_thread(path.read_text, encoding="utf-8")
    for line in text.splitlines():
        conversation = json.loads(line)
        with tempfile.TemporaryDirectory(prefix="dcf-recall-") as folder:
            source = Source(Path(folder) / "memory.db")
            async with Memory.open(
                source, clock=_now, new_id=random_id, embedder=embedder
            ) as memory:
                listener = await _told(memory, conversation["docs"])
                whole = await _whole(memory, listener) if packed else 0
                for one in conversation["queries"]:
                    began = time.perf_counter()
                    k = _QUOTED if packed else 10
                    found = await _found(memory, listener, one["query"], k)
                    took_ms.append((time.perf_counter() - began) * 1e3)
                    numbers = {hit.seq for hit in found}
                    if packed:
                        context = quote(found, int(whole * _SHARE))
                        tokens.append(context.tokens / whole)
                        numbers = {int(item.offer.uri.rpartition("/")[2]) for item in context.items}
                    ids = {conversation["docs"][number - 1]["id"] for number in numbers if number}
                    shares.append(len(ids & set(one["relevant"])) / len(one["relevant"]))
    return Recall(sum(shares) / len(shares), quantile(took_ms, 0.95), max(tokens))


async def _told(memory: Memory, docs: Sequence[dict[str, Any]]) -> str:
    """The id of an agent whose conversation is ``docs``."""
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
    return agent.id


async def _found(memory: Memory, agent_id: str, query: str, k: int) -> tuple[Found, ...]:
    return await memory.search.find(query, k=k, agent_ids=(agent_id,), kinds=("message",))


async def _whole(memory: Memory, agent_id: str) -> int:
    """The tokens of all that was said."""
    every = quote(await _found(memory, agent_id, "", 1_000), _ALL)
    if len(every.items) < await memory.messages.count(agent_id):
        raise ValueError("a conversation has more than 1,000 messages")
    return every.tokens


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the recall on the files for every embedder."""
    parser = argparse.ArgumentParser(prog="benchmarks.memory_retrieval", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument("--packed", action="store_true", help="recall of contexts")
    options = parser.parse_args(arguments)
    for embedder in options.embedder or EMBEDDERS:
        for path in options.files:
            recall = asyncio.run(measure(path, embedder, packed=options.packed))
            at = "at 10"
            if options.packed:
                at = f"in {recall.tokens:.1%} of the tokens"
            print(
                f"{embedder:<10} {path.stem:<16} recall {at} {recall.mean:.3f}"
                f"  p95 {recall.p95_ms:.1f} ms",
                flush=True,
            )


def _now() -> int:
    return round(time.time() * 1000)


if __name__ == "__main__":
    main()
