"""``python -m benchmarks.retrieval_items BACKEND``: one project with very many logged items.

``BACKEND`` is ``file``, ``sqlite`` or ``postgres`` (then ``DATABASE_URL`` names an empty
database). Items are kept as ``dcf retrieval migrate`` keeps them. Then a process of its own opens
them and asks: without words, about one file, and by eight words of a sentence, of which the common
ones are in hundreds of thousands of items. Memory is that of this process alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from benchmarks.figure import Figure, quantile
from benchmarks.retrieval_load import Sayings
from dcf.memory import SYSTEM, Memory, Source, random_id
from dcf.retrieval import FileItems, Item, LastingItems, PostgresItems, SqliteItems
from dcf.search import embedder_named

_PROJECT = "/work/shop"
_BATCH = 500
_FIRST_MS = 1_700_000_000_000
_BETWEEN_MS = 5_000
"""Between two items: a million take two months."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where items are; ``embedder`` is that of meanings, "none" for none."""

    backend: str
    folder: Path
    database: str
    embedder: str

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[LastingItems]:
        """The items."""
        if self.backend == "file":
            yield FileItems(self.folder, _now_ms, random_id)
        elif self.backend == "sqlite":
            source = Source(self.folder / "memory.db")
            embedder = self.embedder
            async with Memory.open(
                source, clock=_now_ms, new_id=random_id, embedder=embedder
            ) as memory:
                yield SqliteItems(memory, SYSTEM)
        else:
            model = None if self.embedder == "none" else embedder_named(self.embedder)
            async with PostgresItems.open(self.database, _now_ms, random_id, None, model) as items:
                yield items


def fill(place: Place, count: int) -> list[Figure]:
    """Keep so many items."""

    async def run() -> list[Figure]:
        sayings, took = Sayings(0), 0.0
        async with place.opened() as items:
            for start in range(0, count, _BATCH):
                some = [_item(sayings, start + one) for one in range(min(_BATCH, count - start))]
                began = time.perf_counter()
                await items.keep(_PROJECT, some)
                took += time.perf_counter() - began
        return [Figure("filled in", took, "s"), Figure("kept", count / took, "/s")]

    return asyncio.run(run())


def ask(place: Place, questions: int) -> list[Figure]:
    """Open the items and ask so many questions of each kind."""

    async def run() -> list[Figure]:
        sayings, chance = Sayings(1), Sayings(2)
        kinds: dict[str, Callable[[], tuple[str, str | None]]] = {
            "without words": lambda: ("", None),
            "about one file": lambda: (sayings.question(), chance.item().file_path),
            "by words": lambda: (sayings.question(), None),
        }
        before, began = _used_mib(), time.perf_counter()
        async with place.opened() as items:
            await items.recall(_PROJECT, "parser")
            figures = [Figure("first answer", time.perf_counter() - began, "s")]
            figures.append(Figure("memory of it", _used_mib() - before, "MiB"))
            for kind, question in kinds.items():
                took = []
                for _ in range(questions):
                    query, path = question()
                    began = time.perf_counter()
                    await items.recall(_PROJECT, query, file_path=path, limit=50)
                    took.append(1e3 * (time.perf_counter() - began))
                figures += [
                    Figure(f"{kind}: p{100 * share:.0f}", quantile(took, share), "ms")
                    for share in (0.5, 0.95)
                ]
        return figures

    return asyncio.run(run())


def _item(sayings: Sayings, number: int) -> Item:
    new = sayings.item()
    name, at = f"passage-{number}", _FIRST_MS + number * _BETWEEN_MS
    return Item(name, new.text, new.tags, new.source, new.file_path, at)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _used_mib() -> float:
    """The most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.retrieval_items", description=__doc__
    )
    parser.add_argument("backend", choices=("file", "sqlite", "postgres"))
    parser.add_argument("--items", type=int, default=1_000_000, help="0: those that are there")
    parser.add_argument("--questions", type=int, default=30, help="of each kind")
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--folder", type=Path, help="keep them there")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="dcf-bench-") as scratch:
        folder = given.folder or Path(scratch)
        database = os.environ.get("DATABASE_URL", "")
        place = Place(given.backend, folder, database, given.embedder)
        # Each in a process that has nothing of the other.
        for work, count in ((fill, given.items), (ask, given.questions)):
            if count:
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                    for figure in process.submit(work, place, count).result():
                        print(f"{figure.name:30} {figure.value:12.2f} {figure.unit}", flush=True)


if __name__ == "__main__":
    main()
