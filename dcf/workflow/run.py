"""A run as its workers see it: the pinned definition, compiled, and what never changes."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from control_plane import JSON, RunDocument, Store
from dcf import asl
from dcf.workflow.naming import Naming, PlainNames
from dcf.workflow.task_token import make_token

# States of other types have no RetryCount.
_RETRYING = ("Task", "Parallel", "Map")
# Who reads the context: paths, any JSONata (`$now()` takes its time from it), and Maps whose
# children and files are named by it. A word in vain costs little, one that is missed is a defect.
_CONTEXT_WORDS = ("$$", "JSONata", '"ResultWriter"', '"DISTRIBUTED"')
_KEPT_RUNS = 512
_KEPT_MACHINES = 64


@dataclass(frozen=True, slots=True)
class Run:
    """The immutable part of a run.

    ``incarnation`` tells it from others that had its id, and from itself before a redrive, ``born``
    only from the others; ``pins`` are the digests of its skills by manifest id. ``uses_context``
    and ``uses_variables``: whether any expression may read the context object, whether any state
    assigns. ``execution`` is what the context object says of the run itself, {Execution,
    StateMachine}. ``budget`` is what it may use: {tool_calls, wall_time_s, model_calls, tokens,
    cost_usd}, or some of them.
    """

    workflow_id: str
    incarnation: str
    name: str
    machine: asl.StateMachine
    input: JSON
    started_at: int
    pins: dict[str, str]
    uses_context: bool
    uses_variables: bool = False
    execution: dict[str, Any] = field(default_factory=dict)
    callback_secret: str = field(default="", repr=False)
    budget: Mapping[str, Any] = field(default_factory=dict)
    born: str = ""

    def token(self, path: str, visit: int, try_: int) -> str:
        """The task token of one try of a Task that waits for one."""
        return make_token(self.callback_secret, self.workflow_id, path, visit, try_)


def execution_context(
    workflow_id: str, name: str, value: JSON, started_at: int, redrives: int = 0
) -> dict[str, Any]:
    """``Execution`` and ``StateMachine`` of a run; ``value`` is its input."""
    return {
        "Execution": {
            "Id": workflow_id,
            "Input": value,
            "Name": workflow_id,
            "RoleArn": "",
            "StartTime": iso(started_at),
            "RedriveCount": redrives,
        },
        "StateMachine": {"Id": name, "Name": name},
    }


def state_context(
    around: Mapping[str, Any],
    state: asl.State,
    *,
    entered_at: int,
    retries: Mapping[int, int],
    token: str | None = None,
) -> dict[str, Any]:
    """The context object (``$$``) of ``state``: that of the frame around it with ``State`` and,
    with a task token, ``Task``."""
    seen: dict[str, JSON] = {"EnteredTime": iso(entered_at), "Name": state.name}
    if state.type in _RETRYING:
        seen["RetryCount"] = sum(retries.values())
    context = {**around, "State": seen}
    if token is not None:
        context["Task"] = {"Token": token}
    return context


@dataclass(frozen=True, slots=True)
class Definition:
    """A compiled machine, and what it makes use of anywhere."""

    machine: asl.StateMachine
    uses_context: bool
    uses_variables: bool


def read_definition(definition: dict[str, Any]) -> Definition:
    """Compile a valid definition. Its text is searched for what may be used: better once too often
    than a context that is missing where JSONata comes to it by a detour."""
    text = json.dumps(definition)
    uses_context = any(word in text for word in _CONTEXT_WORDS)
    return Definition(asl.parse(definition), uses_context, '"Assign"' in text)


class RunCache:
    """Loads runs; keeps those lately used, and machines by digest (runs of one definition share
    theirs)."""

    def __init__(self, store: Store, naming: Naming | None = None) -> None:
        self._store = store
        self._naming = naming or PlainNames()
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._machines: OrderedDict[str, Definition] = OrderedDict()

    def known(self, workflow_id: str, incarnation: str) -> Run | None:
        """The run of this incarnation where it has been read."""
        run = self._runs.get(workflow_id)
        return run if run is not None and run.incarnation == incarnation else None

    async def get(self, workflow_id: str, incarnation: str) -> Run:
        """The run of this incarnation. Raises UnknownRun, MissingBlob, and
        ``asl.DefinitionError`` when this version refuses its definition."""
        run = self.known(workflow_id, incarnation)
        if run is None:
            meta = await self._store.run(workflow_id)
            definition = await self._definition(meta)
            value = await self._store.value(workflow_id, meta.input)
            started_at = meta.started_at or meta.created_at or 0
            context = execution_context(workflow_id, meta.name, value, started_at, meta.redrives)
            run = Run(
                workflow_id=workflow_id,
                incarnation=meta.incarnation,
                name=meta.name,
                machine=definition.machine,
                input=value,
                started_at=started_at,
                pins=meta.raw.get("pins", {}),
                uses_context=definition.uses_context,
                uses_variables=definition.uses_variables,
                execution=self._naming.identify(workflow_id, context),
                callback_secret=meta.callback_secret,
                budget=meta.raw.get("budget", {}),
                born=meta.born,
            )
            self._runs[workflow_id] = run
            if len(self._runs) > _KEPT_RUNS:
                self._runs.popitem(last=False)
        return run

    def forget(self, workflow_id: str) -> None:
        """The run is over."""
        self._runs.pop(workflow_id, None)

    async def _definition(self, meta: RunDocument) -> Definition:
        found = self._machines.get(meta.definition)
        if found is None:
            stored = {"$blob": meta.definition}
            document = await self._store.value(meta.workflow_id, stored)
            found = read_definition(document["asl"])
            self._machines[meta.definition] = found
            if len(self._machines) > _KEPT_MACHINES:
                self._machines.popitem(last=False)
        return found


def iso(milliseconds: int) -> str:
    """An instant as RFC 3339 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
