"""A run that is over as one event that a model can be asked about: what it was given, what happened
and what its Tasks put out.

Unlike what ``run_observations`` tells, this has data of the run in it. What is found in it is of no
workflow, so that no other run receives it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from control_plane import (
    JSON,
    CorruptHistory,
    MissingBlob,
    RunDocument,
    Store,
    UnknownRun,
    history,
)
from dcf.memory import Origin
from dcf.memory.extraction import RUN, Claim, NewEvent, SourceEvent, cleaned
from dcf.workflow.naming import SESSION_PIN, TASK_WORKFLOW
from dcf.workflow.run_observations import definition_of

_EVENTS = 2_000
_TASKS = 50
"""Events of a history, and results of Tasks, that are read: a model is shown less."""
_VALUE_CHARS = 2_000
"""Characters of one value."""
_QUIET = ("LeaseAcquired", "FrameOpened", "ContextGiven", "BundleGiven")
_PASSED = ("arguments", "digest", "fence", "output", "owner", "pins", "rule", "skills", "visit")
"""Events, and members of events, that say nothing of what happened: who works, and digests."""


def run_event(run: RunDocument, project: str) -> NewEvent:
    """The end of a run, as the queue of the extraction has it: after a redrive it is another."""
    return NewEvent(RUN, run.workflow_id, f"{run.born}/{run.redrives}", project)


async def read_run(store: Store, claim: Claim) -> SourceEvent | None:
    """What there is to say of the run of a claim; None where it is gone, or was begun anew. Raises
    ControlPlaneError."""
    try:
        run = await store.run(claim.source_id)
        if run_event(run, "").event != claim.event or not run.is_over:
            return None
        happened, tasks = await _happened(store, run)
        asked = await _asked(store, run)
        return SourceEvent(
            origin=_origin(run),
            kind="state-output",
            project=claim.project,
            input=_short(await _value(store, run.workflow_id, run.input)),
            said=f"{asked}{happened}",
            output="\n".join([line async for line in _results(store, run, tasks)]),
            failed=run.status != "succeeded",
            at=run.finished_at,
        )
    except (UnknownRun, CorruptHistory):
        # Removed, maybe while it was read; or nothing that can be believed.
        return None


def _origin(run: RunDocument) -> Origin:
    """The run, or the task of a session that it is."""
    session_id = (run.raw.get("pins") or {}).get(SESSION_PIN)
    if session_id is None:
        return Origin(RUN, run.workflow_id)
    return Origin("session", str(session_id), state=run.workflow_id)


async def _asked(store: Store, run: RunDocument) -> str:
    """What the task of a session is, as whoever delegated it said; empty for any other run."""
    if not run.name.startswith(TASK_WORKFLOW):
        return ""
    states = (await definition_of(store, run)).get("States") or {}
    said = [str(state.get("Comment") or "") for state in states.values()]
    return "".join(f"The task: {_short(one)}\n" for one in said if one)


async def _happened(store: Store, run: RunDocument) -> tuple[str, list[str]]:
    """The history in lines, and the paths of the states that ended."""
    lines, ended, count = [f"A run of {run.name}: {run.status}."], dict[str, None](), 0
    async for told in history.read(store, run.workflow_id):
        event = told.event
        if event.get("type") not in _QUIET:
            lines.append(" ".join(_line(event)))
        if event.get("type") in ("StateDone", "StateFailed"):
            ended[str(event.get("path"))] = None
        count += 1
        if count == _EVENTS:
            break
    return "\n".join(lines), list(ended)[:_TASKS]


async def _results(store: Store, run: RunDocument, paths: Sequence[str]) -> AsyncIterator[str]:
    states = await store.states(run.workflow_id, paths)
    outputs = await store.outputs(run.workflow_id, paths)
    for path in paths:
        state = states.get(path)
        if state is None or state.type != "Task":
            continue
        if state.error is not None:
            yield f"{path} failed: {_short(state.error.to_json())}"
        if path in outputs:
            output = await _value(store, run.workflow_id, outputs[path].get("data"))
            yield f"{path} put out: {_short(output)}"


async def _value(store: Store, workflow_id: str, stored: JSON) -> JSON:
    try:
        return await store.value(workflow_id, stored)
    except MissingBlob:
        return None


def _line(event: dict[str, Any]) -> Iterator[str]:
    yield str(event.get("type"))
    for name, value in event.items():
        if name != "type" and name not in _PASSED and value not in (None, "", [], {}):
            yield f"{name}={_short(value)}"


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= _VALUE_CHARS:
        return text
    # Cleaned before it is cut: half a secret is not known for one.
    return f"{cleaned(text[: 2 * _VALUE_CHARS])[:_VALUE_CHARS]}…"
