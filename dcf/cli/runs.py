"""``dcf runs``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

from rich.table import Table
from rich.text import Text

from control_plane import DONE, INDEX, RunDocument, RunStatus, Store, UnknownRun
from dcf.cli.answer import Answer
from dcf.cli.board import now_ms, root_paths
from dcf.cli.board_table import seconds_text, status_text
from dcf.cli.redis_access import find_redis, open_store
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput
from dcf.problem import Problem
from dcf.workflow import iso

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One run of the list; states are those of the definition's root frame."""

    run: RunDocument
    done: int
    total: int
    seconds: float | None

    def to_json(self) -> dict[str, Any]:
        run = self.run
        return {
            "workflow_id": run.workflow_id,
            "workflow_name": run.name,
            "status": run.status,
            "started_at": iso(run.started_at) if run.started_at else None,
            "finished_at": iso(run.finished_at) if run.finished_at else None,
            "duration_s": self.seconds,
            "states_done": self.done,
            "states_total": self.total,
            "error": run.error.to_json() if run.error else None,
        }


async def list_runs(settings: Settings, screen: Screen, limit: int, status: str | None) -> Answer:
    """The newest ``limit`` runs, of one ``status`` if that is given."""
    known = get_args(RunStatus)
    if status is not None and status not in known:
        hint = f"one of {', '.join(known)}"
        raise BadInput([Problem("CLI_STATUS", f"no run is {status!r}", hint=hint, file="--status")])
    address = await find_redis(settings, screen)
    async with open_store(address) as store:
        runs = [run async for run in _newest(store, limit, status)]
        now = await now_ms(store)
        lines = [await _line(store, run, now) for run in runs]
    show = [_table(lines)] if lines else ["No runs yet: `dcf run FILE` makes one."]
    return Answer({"runs": [line.to_json() for line in lines]}, show)


async def _newest(store: Store, limit: int, status: str | None) -> AsyncIterator[RunDocument]:
    """Active runs by their start, then finished ones by their end, newest first."""
    active = await store.backend.command("ZRANGE", INDEX, 0, -1)
    found = [
        run
        for at in range(0, len(active), _PAGE)
        for run in await _read(store, active[at : at + _PAGE])
        if status in (None, run.status)
    ]
    found.sort(key=lambda run: run.created_at or 0, reverse=True)
    given = 0
    for run in found[:limit]:
        given += 1
        yield run
    seen, start = set(active), 0
    while given < limit:
        page = await store.backend.command("ZRANGE", DONE, start, start + _PAGE - 1, "REV")
        for run in await _read(store, [one for one in page if one not in seen]):
            if given < limit and status in (None, run.status):
                given += 1
                yield run
        if len(page) < _PAGE:
            return
        start += _PAGE


async def _read(store: Store, ids: list[str]) -> list[RunDocument]:
    """Their meta documents; a run that was removed meanwhile is left out."""
    found = await asyncio.gather(*(_run(store, workflow_id) for workflow_id in ids))
    return [run for run in found if run is not None]


async def _run(store: Store, workflow_id: str) -> RunDocument | None:
    try:
        return await store.run(workflow_id)
    except UnknownRun:
        return None


async def _line(store: Store, run: RunDocument, now: int) -> Line:
    paths = root_paths(run)
    documents = await store.states(run.workflow_id, paths)
    done = sum(document.status == "done" for document in documents.values())
    seconds = None
    if run.started_at is not None:
        seconds = ((run.finished_at or now) - run.started_at) / 1000
    return Line(run, done, len(paths), seconds)


def _table(lines: list[Line]) -> Table:
    table = Table()
    for heading in ("id", "workflow", "status", "started", "duration", "states", "error"):
        right = heading in ("duration", "states")
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for line in lines:
        run = line.run
        table.add_row(
            Text(run.workflow_id),
            Text(run.name),
            status_text(run.status),
            _local(run.started_at),
            seconds_text(line.seconds),
            f"{line.done}/{line.total}",
            Text((run.error.error or "") if run.error else "", "red"),
        )
    return table


def _local(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
