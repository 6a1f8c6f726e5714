"""What a run did, as its picture shows it: read from its documents and its history."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from control_plane import StateDocument, Store, history, split_path
from dcf.cli.board import WORTH_TELLING_S, losses, now_ms, queued_s
from dcf.cli.wording import counted
from dcf.diagram import Chart, Look, Place, RunLook, Status, Way, all_nodes
from dcf.workflow import is_manual

# What many visits of one state show together: the first of these that any of them has.
_LOUDEST: tuple[Status, ...] = (
    "failed",
    "running",
    "waiting",
    "ready",
    "pending",
    "cancelled",
    "skipped",
    "done",
)
_WAITS = {"retry": "for a retry", "callback": "for an answer", "approval": "for approval"}
_MS = 1000


async def read_run_look(store: Store, workflow_id: str, chart: Chart) -> RunLook:
    """How the run ``workflow_id`` looks on ``chart``. Raises UnknownRun, CorruptHistory."""
    run = await store.run(workflow_id)
    places = _Places(chart)
    paths = [path for path in await store.paths(workflow_id) if "@" not in path]
    documents = await store.states(workflow_id, paths)
    now = await now_ms(store)
    found: dict[Place, list[StateDocument]] = defaultdict(list)
    for path, document in documents.items():
        place = places.of(path)
        if document.kind == "state" and place is not None:
            found[place].append(document)
    taken: set[Way] = set()
    async for event in history.read(store, workflow_id):
        said = event.event
        place = places.of(str(said.get("path", "")))
        if said.get("type") == "StateDone" and place is not None:
            next_ = said.get("next")
            target = split_path(str(next_))[-1] if next_ else None
            name = target if isinstance(target, str) else None
            taken.add((place, name, said.get("caught") is not None))
    looks = {place: _look(documents, now) for place, documents in found.items()}
    return RunLook(f"{run.name} · {workflow_id} · {run.status}", looks, frozenset(taken))


class _Places:
    """From the path of a state to its place on the chart: all items of a Map have one place."""

    def __init__(self, chart: Chart) -> None:
        self._types = {node.place: node.type for node in all_nodes(chart.machine)}

    def of(self, path: str) -> Place | None:
        """None for what the chart does not have."""
        place: Place = ()
        for step in split_path(path) if path else ():
            is_item = isinstance(step, int) and self._types.get(place) == "Map"
            place = (*place, 0 if is_item else step)
        return place if place in self._types else None


def _look(documents: Sequence[StateDocument], now: int) -> Look:
    statuses = Counter[Status](document.status for document in documents)
    loudest = next(status for status in _LOUDEST if statuses[status])
    if len(documents) == 1:
        return Look(loudest, ", ".join(_details(documents[0], now)))
    counts = [f"{statuses[status]} {status}" for status in reversed(_LOUDEST) if statuses[status]]
    tries = sum(document.try_ - 1 for document in documents if document.try_ > 1)
    more = [counted(tries, "more try", "more tries")] if tries else []
    caught = sum(document.status == "done" and _has_error(document) for document in documents)
    longest = max(filter(None, (_lasted_ms(one, now) for one in documents)), default=None)
    if caught:
        more.append(f"{caught} caught")
    deaths = sum(document.deaths for document in documents)
    if deaths:
        more.append(f"{counted(deaths, 'death', 'deaths')} of workers")
    if longest is not None:
        more.append(f"at most {_seconds(longest / _MS)}")
    return Look(loudest, ", ".join([*counts, *more]))


def _lasted_ms(document: StateDocument, now: int) -> int | None:
    """How long a state took, or takes, with its time in the queue; None before it was entered."""
    entered, finished = document.times.get("entered"), document.times.get("finished")
    return None if entered is None else (finished or now) - entered


def _has_error(document: StateDocument) -> bool:
    return document.error is not None and bool(document.error.error)


def _details(document: StateDocument, now: int) -> Iterable[str]:
    lasted_ms = _lasted_ms(document, now)
    if lasted_ms is not None:
        yield _seconds(lasted_ms / _MS)
    queued = queued_s(document, now) or 0.0
    if queued >= WORTH_TELLING_S:
        yield f"{_seconds(queued)} of it in the queue"
    if document.status == "waiting" and document.wait in _WAITS:
        yield "for a person" if is_manual(document) else _WAITS[document.wait]
    if document.visit > 1:
        yield f"visit {document.visit}"
    if document.try_ > 1:
        yield counted(document.try_, "try", "tries")
    yield from losses(document)
    if document.join is not None:
        join = document.join
        yield f"{join.finished - join.failed} of {join.n} done"
        if join.failed:
            yield f"{join.failed} failed"
    if document.error is not None and document.error.error:
        caught = document.status == "done"
        yield f"caught {document.error.error}" if caught else document.error.error


def _seconds(seconds: float) -> str:
    if seconds < 120:
        return f"{max(seconds, 0):.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 120 else f"{minutes / 60:.1f} h"
