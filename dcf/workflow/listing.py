"""Which runs there are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from control_plane import DONE, INDEX, RunDocument, RunStatus, Store, UnknownRun

_PAGE = 100


async def newest_runs(
    store: Store, limit: int, status: RunStatus | None = None
) -> AsyncIterator[RunDocument]:
    """At most ``limit`` runs, of one ``status`` if that is given: active ones by their start, then
    finished ones by their end, newest first."""
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
