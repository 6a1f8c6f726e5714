"""Which runs there are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

from control_plane import DONE, INDEX, RunDocument, RunStatus, Store

_PAGE = 100


async def newest_runs(
    store: Store, limit: int, status: RunStatus | None = None
) -> AsyncIterator[RunDocument]:
    """At most ``limit`` runs, of one ``status`` if that is given, by when they were made, newest
    first: out of all that are active and the ``limit`` that ended last."""
    active = await store.backend.command("ZRANGE", INDEX, 0, -1)
    found = [
        run
        for at in range(0, len(active), _PAGE)
        for run in await store.run_many(active[at : at + _PAGE])
        if status in (None, run.status)
    ]
    found += [run async for run in _finished(store, limit, status, set(active))]
    found.sort(key=lambda run: run.created_at or 0, reverse=True)
    for run in found[:limit]:
        yield run


async def _finished(
    store: Store, limit: int, status: RunStatus | None, active: Collection[str]
) -> AsyncIterator[RunDocument]:
    """Those that ended last; ``active`` were just seen, and may have ended since."""
    given = start = 0
    while given < limit:
        size = min(limit, _PAGE)
        page = await store.backend.command("ZRANGE", DONE, start, start + size - 1, "REV")
        for run in await store.run_many([one for one in page if one not in active]):
            if given < limit and status in (None, run.status):
                given += 1
                yield run
        if len(page) < size:
            return
        start += size
