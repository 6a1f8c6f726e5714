"""Timers that are due together: how late each one fires, and how late its run goes on.

``python -m benchmarks.timers [COUNT]``: 1,000 within one second, in runs and in one Map.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, quantile
from benchmarks.runs import document, finish, submit
from benchmarks.workers import worker_processes
from control_plane import RedisBackend, Store, history
from control_plane.embedded import Embedded, fsync_of

_WORKERS = 2
# From the submission to the first timer: enough for all of them to wait by then.
_AHEAD = timedelta(seconds=1)
_AHEAD_EACH = timedelta(milliseconds=8)
_SPREAD_MS = 1000


async def timers(url: str, *, count: int) -> list[Figure]:
    """Lateness of ``count`` timers that are due within one second, with two workers: of runs with
    one Wait each, and of the items of one Map."""
    figures = []
    async with worker_processes(url, _WORKERS):
        store = Store(RedisBackend.from_url(url))
        for name, measure in (("runs", _in_runs), ("items of a Map", _in_map)):
            fired, went_on = await measure(store, count)
            for what, late in (("fires", fired), ("goes on", went_on)):
                for share, label in ((0.5, "p50"), (0.99, "p99"), (1.0, "most")):
                    title = f"{count:,} timers in 1 s, {name}: {what} late, {label}"
                    figures.append(Figure(title, quantile(late, share), "ms"))
        await store.backend.close()
    return figures


async def _in_runs(store: Store, count: int) -> tuple[list[float], list[float]]:
    due = _moments(count)
    waiting = document(_waiting())
    ids: list[str] = []
    for moment in due:
        ids += await submit(store, waiting, 1, {"at": moment})
    await finish(store, ids)
    found = [await _lateness(store, one, [at]) for one, at in zip(ids, due, strict=True)]
    return [late for fired, _ in found for late in fired], [late for _, on in found for late in on]


async def _in_map(store: Store, count: int) -> tuple[list[float], list[float]]:
    due = _moments(count)
    fan = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": _waiting(), "End": True}
    machine = document({"StartAt": "M", "States": {"M": fan}})
    ids = await submit(store, machine, 1, {"items": [{"at": moment} for moment in due]})
    await finish(store, ids)
    return await _lateness(store, ids[0], due)


async def _lateness(store: Store, run: str, due: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds from the moment that a timer was due at until it fired, and until a worker had
    the state again."""
    fired, went_on = [], []
    async for entry in history.read(store, run):
        event = entry.event
        if event.get("event") != "timer":
            continue
        number = event["path"].partition("[")[2].partition("]")[0]
        late = entry.at - _ms(due[int(number or 0)])
        if event["type"] == "TimerFired":
            fired.append(late)
        elif event["type"] == "LeaseAcquired":
            went_on.append(late)
    return fired, went_on


def _waiting() -> dict[str, Any]:
    wait = {"Type": "Wait", "TimestampPath": "$.at", "End": True}
    return {"StartAt": "W", "States": {"W": wait}}


def _moments(count: int) -> list[str]:
    """Evenly over one second."""
    first = datetime.now(UTC) + _AHEAD + count * _AHEAD_EACH
    return [
        (first + timedelta(milliseconds=number * _SPREAD_MS / count)).isoformat(
            timespec="milliseconds"
        )
        for number in range(count)
    ]


def _ms(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() * 1000


async def _alone(folder: Path, count: int) -> list[Figure]:
    embedded = Embedded(folder / "home", fsync=fsync_of(os.environ))
    try:
        return await timers((await embedded.start()).url, count=count)
    finally:
        await embedded.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="dcf-timers-") as scratch:
        asked = int(sys.argv[1]) if sys.argv[1:] else 1_000
        for figure in asyncio.run(_alone(Path(scratch), asked)):
            print(f"{figure.name:<56} {figure.value:>10.0f} {figure.unit}")
