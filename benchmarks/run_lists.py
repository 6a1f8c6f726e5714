"""The list of runs: pages out of many, against a reading of all documents.

``python -m benchmarks.run_lists`` has 100,000 runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, median
from benchmarks.machines import passes
from benchmarks.runs import document, now, submit
from control_plane import DONE, RedisBackend, Store, keys
from control_plane.embedded import Embedded, fsync_of
from control_plane.run_lists import STATUSES, list_runs
from dcf.cli.board import root_paths

_PAGE = 100
_REPEATS = 7
_AT_ONCE = 200
_OLDEST_MS = 1_700_000_000_000
_SECOND_MS = 1000


async def listing(url: str, *, runs: int) -> list[Figure]:
    """Seconds of a page of 100 as ``dcf runs`` reads it: the first, one in the middle, one of a
    status that few have; what it takes to bring all of them into the lists for the first time; and
    the reading of all documents."""
    backend = RedisBackend.from_url(url)
    store = Store(backend)
    ids = await _older_runs(store, runs)

    async def read_all() -> None:
        found = await store.run_many(ids)
        found.sort(key=lambda run: run.created_at or 0, reverse=True)

    async def page(**options: Any) -> None:
        shown = (await list_runs(store, _PAGE, **options)).runs
        await store.count_done({run.workflow_id: root_paths(run) for run in shown})

    name = f"of {runs:,} runs"
    every = await _seconds(read_all, 1)
    first = Figure(f"{name}: the first list, which finds them", await _seconds(page, 1), "s")
    middle = f"{_OLDEST_MS + runs // 2 * _SECOND_MS}.x"
    figures = [
        Figure(f"{name}: reading and sorting all", every, "s"),
        first,
        Figure(f"{name}: the first page of {_PAGE}", await _seconds(page), "s"),
        Figure(f"{name}: a page in the middle", await _seconds(lambda: page(after=middle)), "s"),
        Figure(f"{name}: a page of one status", await _seconds(lambda: page(status="failed")), "s"),
    ]
    # The lists go too: whoever reads them next finds what is left.
    left = [keys.RUNS_FILLED, *map(keys.runs, STATUSES), *(store.keys(one).meta for one in ids)]
    await backend.command("DEL", DONE, *left)
    await backend.close()
    return figures


async def _older_runs(store: Store, count: int) -> list[str]:
    """Runs as a version without lists left them: their documents, and that they are done."""
    [sample] = await submit(store, document(passes(3)), 1, {"n": 1})
    kept = (await store.run(sample)).raw
    await store.cancel(sample, by="benchmark")
    ids = [f"old-{number:07}" for number in range(count)]
    for at in range(0, count, _AT_ONCE):
        await asyncio.gather(
            *(_write(store, kept, ids[at + n], at + n) for n in range(min(_AT_ONCE, count - at)))
        )
    return ids


async def _write(store: Store, sample: dict[str, Any], workflow_id: str, number: int) -> None:
    born = _OLDEST_MS + number * _SECOND_MS
    status = "failed" if number % 100 == 0 else "succeeded"
    ctl = {**sample["ctl"], "status": status, "born": str(born), "finalized": True}
    times = dict.fromkeys(("created_at", "started_at", "finished_at", "finalized_at"), born)
    text = json.dumps({**sample, **times, "ctl": ctl, "status": status, "workflow_id": workflow_id})
    await store.backend.command("JSON.SET", store.keys(workflow_id).meta, "$", text)
    await store.backend.command("ZADD", DONE, born, workflow_id)


async def _seconds(act: Callable[[], Awaitable[None]], repeats: int = _REPEATS) -> float:
    taken = []
    for _ in range(repeats):
        began = now()
        await act()
        taken.append(now() - began)
    return median(taken)


async def _alone(folder: Path) -> list[Figure]:
    embedded = Embedded(folder / "home", fsync=fsync_of(os.environ))
    try:
        return await listing((await embedded.start()).url, runs=100_000)
    finally:
        await embedded.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dcf-runs-") as scratch:
        for figure in asyncio.run(_alone(Path(scratch))):
            print(f"{figure.name:<56} {figure.value:>10.3f} {figure.unit}")
