"""A run as its workers see it: the pinned definition, compiled, and what never changes."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from control_plane import RunDocument, Store
from control_plane.payload import JSON
from dcf import asl

# States of other types have no RetryCount.
_RETRYING = ("Task", "Parallel", "Map")
_KEPT_RUNS = 512
_KEPT_MACHINES = 64


@dataclass(frozen=True, slots=True)
class Run:
    """The immutable part of a run.

    ``incarnation`` tells it from others that had its id, ``pins`` are the digests of its skills by
    manifest id.
    """

    workflow_id: str
    incarnation: str
    name: str
    machine: asl.StateMachine
    input: JSON
    started_at: int
    pins: dict[str, str]
    uses_context: bool

    def context(
        self, *, state: asl.State, entered_at: int, retries: Mapping[int, int], item: JSON
    ) -> dict[str, Any]:
        """The context object (``$$``) of ``state``; ``item`` is ``{"Index", "Value"}`` of the Map
        around it or None."""
        if not self.uses_context:
            return {}
        seen: dict[str, JSON] = {"EnteredTime": iso(entered_at), "Name": state.name}
        if state.type in _RETRYING:
            seen["RetryCount"] = sum(retries.values())
        context = {
            "Execution": {
                "Id": self.workflow_id,
                "Input": self.input,
                "Name": self.workflow_id,
                "RoleArn": "",
                "StartTime": iso(self.started_at),
            },
            "State": seen,
            "StateMachine": {"Id": self.name, "Name": self.name},
        }
        if item is not None:
            context["Map"] = {"Item": item}
        return context


class RunCache:
    """Loads runs; keeps those lately used, and machines by digest (runs of one definition share
    theirs)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._machines: OrderedDict[str, tuple[asl.StateMachine, bool]] = OrderedDict()

    async def get(self, workflow_id: str, incarnation: str) -> Run:
        """The run of this incarnation. Raises UnknownRun, MissingBlob."""
        run = self._runs.get(workflow_id)
        if run is None or run.incarnation != incarnation:
            meta = await self._store.run(workflow_id)
            machine, uses_context = await self._machine(meta)
            run = Run(
                workflow_id=workflow_id,
                incarnation=meta.incarnation,
                name=meta.name,
                machine=machine,
                input=await self._store.value(workflow_id, meta.input),
                started_at=meta.started_at or meta.created_at or 0,
                pins=meta.raw["pins"],
                uses_context=uses_context,
            )
            self._runs[workflow_id] = run
            if len(self._runs) > _KEPT_RUNS:
                self._runs.popitem(last=False)
        return run

    def forget(self, workflow_id: str) -> None:
        """The run is over."""
        self._runs.pop(workflow_id, None)

    async def _machine(self, meta: RunDocument) -> tuple[asl.StateMachine, bool]:
        found = self._machines.get(meta.definition)
        if found is None:
            stored = {"$blob": meta.definition}
            document = await self._store.value(meta.workflow_id, stored)
            found = asl.parse(document["asl"]), "$$" in json.dumps(document["asl"])
            self._machines[meta.definition] = found
            if len(self._machines) > _KEPT_MACHINES:
                self._machines.popitem(last=False)
        return found


def iso(milliseconds: int) -> str:
    """An instant as RFC 3339 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
