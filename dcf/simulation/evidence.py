"""What one run left behind: its documents, outputs and history, read from the twin at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from control_plane import (
    JSON,
    CorruptHistory,
    HistoryEvent,
    RunDocument,
    StateDocument,
    Store,
    history,
)
from control_plane.twin import Twin
from dcf.simulation.order import Order
from dcf.simulation.virtual_loop import at_once


@dataclass(frozen=True, slots=True)
class Evidence:
    """``documents`` by name (``path`` or ``path@visit``), ``outputs`` by the same names;
    ``problem`` is what is wrong with the chain of the history ("" when nothing is)."""

    store: Store
    order: Order
    meta: RunDocument
    documents: dict[str, StateDocument]
    outputs: dict[str, dict[str, Any]]
    events: list[HistoryEvent]
    problem: str
    audit: dict[str, Any] | None

    @property
    def run(self) -> str:
        return self.order.workflow_id

    def visit(self, path: str, visit: int) -> tuple[str, StateDocument] | None:
        """Name and document of one visit of ``path``."""
        for name in (path, f"{path}@{visit}"):
            document = self.documents.get(name)
            if document is not None and document.visit == visit:
                return name, document
        return None

    def data(self, name: str) -> JSON:
        """The value that the state called ``name`` put out."""
        return self.value(self.outputs[name]["data"])

    def value(self, stored: JSON) -> JSON:
        """The value behind what a document holds."""
        return at_once(self.store.value(self.run, stored))


def gather(twin: Twin, order: Order) -> Evidence:
    """The evidence of one run that was submitted."""
    store = Store(twin)
    run = order.workflow_id
    paths = at_once(store.paths(run))
    events, problem = _events(store, run)
    audit = at_once(twin.command("JSON.GET", store.keys(run).audit))
    return Evidence(
        store=store,
        order=order,
        meta=at_once(store.run(run)),
        documents=at_once(store.states(run, paths)),
        outputs=at_once(store.outputs(run, paths)),
        events=events,
        problem=problem,
        audit=json.loads(audit) if audit else None,
    )


def _events(store: Store, run: str) -> tuple[list[HistoryEvent], str]:
    events: list[HistoryEvent] = []

    async def read() -> None:
        async for event in history.read(store, run):
            events.append(event)

    try:
        at_once(read())
    except CorruptHistory as error:
        return events, str(error)
    return events, ""
