"""The lists of runs: ``cp:{runs}:{status}`` holds the runs of one status by when they were made.

Standalone the scripts change them together with the run. What they cannot reach (a cluster), what
another version of the software did and what was lost is brought back from the documents: by every
tick and by the retirement of a run, by whoever reads a page, and by ``filling``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from control_plane import keys, payload, script
from control_plane.backend import Backend
from control_plane.documents import RunStatus
from control_plane.errors import (
    BadPlace,
    BrokenRun,
    RefusedForGood,
    RefusedForNow,
    ServerError,
    UnknownRun,
    WrongType,
)
from control_plane.reader import JSON_TYPE
from control_plane.run_document import RunDocument
from control_plane.store import Store

log = logging.getLogger(__name__)

STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
_SLICE = 500
# How often it is counted whether the lists hold as many runs as there are.
_COUNT_EVERY_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, newest first. ``next_after`` is where the next page begins, None at the end; ``broken``
    has what is wrong with those that are left out; ``refused`` is why the lists were not mended."""

    runs: tuple[RunDocument, ...]
    next_after: str | None
    broken: tuple[BrokenRun, ...] = ()
    refused: RefusedForNow | None = None


class _Mender:
    """Mends the lists by ``store``, until Redis refuses that for a while: ``refused``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.refused: RefusedForNow | None = None

    async def fill(self) -> None:
        await self._unless_refused(lambda: fill(self._store))

    async def enlist(self, ids: Sequence[str]) -> None:
        await self._unless_refused(lambda: _enlist(self._store, ids))

    async def _unless_refused(self, write: Callable[[], Awaitable[None]]) -> None:
        if self.refused is not None:
            return
        try:
            await write()
        except RefusedForNow as error:
            self.refused = error


async def list_runs(
    store: Store,
    limit: int,
    *,
    status: RunStatus | None = None,
    after: str | None = None,
    writer: Store | None = None,
) -> RunPage:
    """At most ``limit`` runs by when they were made, newest first, those of one ``status`` if that
    is given. ``after`` is a page's ``next_after``, or the id of a run.

    Entries that disagree with their documents are mended on the way, by ``writer`` if that is
    given; nothing is mended while Redis refuses writes. Raises UnknownRun when there is no run
    ``after``, BadPlace when it is neither.
    """
    mender = _Mender(writer or store)
    await mender.fill()
    place = None if after is None else await _place(store, after)
    runs: list[RunDocument] = []
    broken: dict[str, BrokenRun] = {}
    while True:
        # One more than fits says whether there is a next page.
        wanted = limit + 1 - len(runs)
        entries = await _entries(store, wanted, status, place)
        found, bad = await _read(store, [one.id for one in entries])
        broken |= bad
        wrong = [one.id for one in entries if not one.agrees(found.get(one.id))]
        wrong = [workflow_id for workflow_id in wrong if workflow_id not in bad]
        await mender.enlist(wrong)
        runs += [run for run in found.values() if status in (None, run.status)]
        if len(entries) < wanted or len(runs) > limit:
            break
        place = entries[-1]
    more = len(runs) > limit
    next_after = _text(runs[limit - 1]) if more else None
    return RunPage(tuple(runs[:limit]), next_after, tuple(broken.values()), mender.refused)


async def _read(
    store: Store, ids: Sequence[str]
) -> tuple[dict[str, RunDocument], dict[str, BrokenRun]]:
    """The runs that are there by their ids, and what is wrong with those that are broken."""
    runs, errors = await store.runs_and_broken(ids)
    found = {run.workflow_id: run for run in runs}
    broken = {str(error.fields["workflow_id"]): error for error in errors}
    for workflow_id in ids:
        if workflow_id in found or workflow_id in broken:
            continue
        try:
            found[workflow_id] = await store.run(workflow_id)
        except UnknownRun:
            continue
        except BrokenRun as error:
            broken[workflow_id] = error
    return found, broken


async def filling(store: Store) -> AsyncIterator[int]:
    """Bring into the lists what should be in them, up to 500 runs from one step to the next; how
    many. Every step may be repeated, in any number of processes at once; who dies between two loses
    nothing.

    The first time, and when a count finds other than all runs, these are all; later those that were
    retired since the last time, which another version may have ended.
    """
    backend = store.backend
    done, counted = await backend.command("HMGET", keys.RUNS_FILLED, "done", "counted")
    now_ms = await store.now_ms()
    if now_ms - int(counted or 0) >= _COUNT_EVERY_MS:
        if not await _all_listed(backend):
            # Whoever dies from here on leaves it to be done whole.
            await backend.command("HDEL", keys.RUNS_FILLED, "done")
            done = None
        await backend.command("HSET", keys.RUNS_FILLED, "counted", now_ms)
    if done is None:
        for key in (keys.INDEX, *map(keys.runs, STATUSES)):
            async for page, _ in pages_by_score(backend, key, "-inf"):
                await _enlist(store, page)
                yield len(page)
        # If none is done yet, the next time begins with the first that will be.
        await backend.command("HSET", keys.RUNS_FILLED, "done", 0)
    async for page, last in pages_by_score(backend, keys.DONE, f"({done or 0}"):
        await _enlist(store, page)
        await backend.command("HSET", keys.RUNS_FILLED, "done", last)
        yield len(page)


async def ended_runs(
    store: Store, before_ms: int, statuses: Sequence[RunStatus]
) -> AsyncIterator[list[RunDocument]]:
    """Sealed runs of these ``statuses`` that ended at ``before_ms`` or earlier, a few hundred at a
    time, about in the order in which they ended. One whose document is broken is left out, which
    the log tells."""
    async for page, _ in pages_by_score(store.backend, keys.DONE, "-inf"):
        ended = await store.ends(page)
        due = [name for name, at in ended.items() if at <= before_ms]
        yield [run for run in await store.run_many(due) if run.status in statuses]


async def fill(store: Store) -> None:
    """All of ``filling``."""
    async for _ in filling(store):
        pass


async def pages_by_score(
    backend: Backend, key: str, start: str
) -> AsyncIterator[tuple[list[str], str]]:
    """The members of a sorted set from the score ``start`` on, up to 500 and the last score of each
    page. By scores and not by ranks: what leaves meanwhile makes no other one be missed."""
    seen = set[str]()
    while True:
        answer = await backend.command(
            "ZRANGE", key, start, "+inf", "BYSCORE", "LIMIT", 0, _SLICE + len(seen), "WITHSCORES"
        )
        page = [name for name in answer[::2] if name not in seen]
        if not page:
            return
        # The next page begins with the score that this one ends with.
        last = answer[-1]
        same = {name for name, at in zip(answer[::2], answer[1::2], strict=True) if at == last}
        seen = same if last != start else seen | same
        start = last
        yield page, last


@dataclass(frozen=True, slots=True)
class _Entry:
    """A run as the lists have it."""

    id: str
    status: str
    made_ms: int

    def agrees(self, run: RunDocument | None) -> bool:
        """Whether the document says the same."""
        return run is not None and (run.status, int(run.born)) == (self.status, self.made_ms)


async def _entries(
    store: Store, limit: int, status: RunStatus | None, place: _Entry | None
) -> list[_Entry]:
    statuses = STATUSES if status is None else (status,)
    request: dict[str, object] = {"limit": limit, "statuses": list(statuses)}
    if place is not None:
        request |= {"at": place.made_ms, "id": place.id}
    names, text = [keys.runs("running")], payload.to_text(request)
    answer = await store.backend.run(script.load("list"), names, [text])
    return [_Entry(id_, listed, int(made)) for id_, listed, made in answer]


async def _enlist(store: Store, ids: Sequence[str]) -> None:
    try:
        await _enlist_all(store, ids)
    except RefusedForGood:
        raise
    except ServerError:
        # A document that no script wrote makes Redis refuse all: the others are listed one by one.
        for workflow_id in ids:
            try:
                await _enlist_all(store, [workflow_id])
            except RefusedForGood:
                raise
            except ServerError as error:
                kind = await store.backend.command("TYPE", store.keys(workflow_id).meta)
                if isinstance(error, WrongType) and kind == JSON_TYPE:
                    # It is a list that was overwritten.
                    raise
                await _tell_broken(store, workflow_id, error)


async def _tell_broken(store: Store, workflow_id: str, error: ServerError) -> None:
    """Log why it cannot be listed: what is wrong with its document, else what Redis said."""
    try:
        await store.run(workflow_id)
    except BrokenRun as broken:
        log.error("run %s cannot be listed: %s (%s)", workflow_id, broken, broken.hint)
    else:
        log.error("run %s cannot be listed: %s", workflow_id, error)


async def _enlist_all(store: Store, ids: Sequence[str]) -> None:
    if store.cluster:
        await asyncio.gather(*map(store.relist, ids))
    elif ids:
        request = payload.to_text({"runs": [[workflow_id] for workflow_id in ids]})
        await store.backend.run(script.load("enlist"), [keys.runs("running")], [request])


async def _all_listed(backend: Backend) -> bool:
    """Whether the lists hold as many runs as are active or done, as far as a look can say."""

    async def count(names: Iterable[str]) -> int:
        return sum([int(await backend.command("ZCARD", name)) for name in names])

    return await count([keys.INDEX, keys.DONE]) == await count(map(keys.runs, STATUSES))


async def _place(store: Store, after: str) -> _Entry:
    made, dot, workflow_id = after.partition(".")
    if dot:
        if not (made.isascii() and made.isdigit() and len(made) < 16):
            raise BadPlace(after=after)
        return _Entry(keys.check_workflow_id(workflow_id), "", int(made))
    run = await store.run(keys.check_workflow_id(after))
    return _Entry(after, "", int(run.born))


def _text(run: RunDocument) -> str:
    return f"{run.born}.{run.workflow_id}"
