"""Timers that are due together: how late each one fires, and how late its run goes on.

``python -m benchmarks.timers [COUNT]``: 1,000 within one second and at one moment, of as many runs,
of one run and of one Map.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
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
_SPREADS = {"in 1 s": 1000, "at one moment": 0}
# Each inner Map has all of its items at work at once.
_GROUP = 125

Late = tuple[list[float], list[float]]


async def timers(url: str, *, count: int) -> list[Figure]:
    """Lateness of ``count`` timers that are due within one second, or at one moment, with two
    workers: of runs with one Wait each; of one run, all of which wait at once; and of the items of
    one Map, of which 256 are at work at once, so that most of them begin to wait when the moment
    of others has come."""
    figures = []
    shapes = {"runs": _in_runs, "one run": _in_one_run, "one Map": _in_map}
    async with worker_processes(url, _WORKERS):
        store = Store(RedisBackend.from_url(url))
        for spread, spread_ms in _SPREADS.items():
            for name, measure in shapes.items():
                fired, went_on = await measure(store, _moments(count, spread_ms))
                for what, late in (("fires", fired), ("goes on", went_on)):
                    for share, label in ((0.5, "p50"), (0.99, "p99"), (1.0, "most")):
                        title = f"{count:,} timers {spread}, {name}: {what} late, {label}"
                        figures.append(Figure(title, quantile(late, share), "ms"))
        await store.backend.close()
    return figures


async def _in_runs(store: Store, due: list[str]) -> Late:
    waiting = document(_waiting())
    ids: list[str] = []
    for moment in due:
        ids += await submit(store, waiting, 1, {"at": moment})
    await finish(store, ids)
    found = [await _lateness(store, one, {"W": at}) for one, at in zip(ids, due, strict=True)]
    return [late for fired, _ in found for late in fired], [late for _, on in found for late in on]


async def _in_one_run(store: Store, due: list[str]) -> Late:
    groups = [due[at : at + _GROUP] for at in range(0, len(due), _GROUP)]
    value = {"items": [{"items": [{"at": moment} for moment in group]} for group in groups]}
    paths = {
        f"G[{outer}]/M[{inner}]/W": moment
        for outer, group in enumerate(groups)
        for inner, moment in enumerate(group)
    }
    return await _of_one(store, _fanned("G", _fanned("M", _waiting())), value, paths)


async def _in_map(store: Store, due: list[str]) -> Late:
    value = {"items": [{"at": moment} for moment in due]}
    paths = {f"M[{number}]/W": moment for number, moment in enumerate(due)}
    return await _of_one(store, _fanned("M", _waiting()), value, paths)


async def _of_one(
    store: Store, machine: dict[str, Any], value: dict[str, Any], due: dict[str, str]
) -> Late:
    ids = await submit(store, document(machine), 1, value)
    await finish(store, ids)
    return await _lateness(store, ids[0], due)


async def _lateness(store: Store, run: str, due: Mapping[str, str]) -> Late:
    """Milliseconds from the moment that a timer was due at until it fired, and until a worker had
    the state again; ``due`` by the paths of the Waits."""
    fired, went_on = [], []
    async for entry in history.read(store, run):
        event = entry.event
        if event.get("event") != "timer":
            continue
        late = entry.at - _ms(due[event["path"]])
        if event["type"] == "TimerFired":
            fired.append(late)
        elif event["type"] == "LeaseAcquired":
            went_on.append(late)
    return fired, went_on


def _waiting() -> dict[str, Any]:
    wait = {"Type": "Wait", "TimestampPath": "$.at", "End": True}
    return {"StartAt": "W", "States": {"W": wait}}


def _fanned(name: str, inner: dict[str, Any]) -> dict[str, Any]:
    fan = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": inner, "End": True}
    return {"StartAt": name, "States": {name: fan}}


def _moments(count: int, spread_ms: int) -> list[str]:
    """Evenly over so much time."""
    first = datetime.now(UTC) + _AHEAD + count * _AHEAD_EACH
    return [
        (first + timedelta(milliseconds=number * spread_ms / count)).isoformat(
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
            print(f"{figure.name:<64} {figure.value:>10.0f} {figure.unit}")
