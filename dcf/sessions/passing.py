"""Passing results on: what a task gets of those that it follows."""

from __future__ import annotations

from collections.abc import Mapping

from control_plane import JSON, MissingBlob, Store, UnknownRun, payload
from dcf.citation import Citation
from dcf.sessions.task import SessionTask

RESULT_LIMIT = 64 * 1024
"""Bytes of a result that is passed on; a larger one is read by its reference."""


async def input_of(store: Store, task: SessionTask) -> JSON:
    """The input of a task that begins: references to the results of tasks that it follows, where
    they stand as a value in it, are those results. They are over, so it is always the same."""
    found: dict[str, JSON] = {}
    for other in task.after:
        result = await result_of(store, other)
        if result is not None and payload.encode(result).size <= RESULT_LIMIT:
            found[str(Citation("run", other))] = result
    return _filled(task.input, found) if found else task.input


async def result_of(store: Store, task_id: str) -> JSON:
    """What the run of a task put out; None where it put out nothing, or is not there any more."""
    try:
        run = await store.run(task_id)
        if run.exit is None:
            return None
        output = (await store.outputs(task_id, [run.exit])).get(run.exit)
        return None if output is None else await store.value(task_id, output["data"])
    except (UnknownRun, MissingBlob):
        return None


def _filled(value: JSON, found: Mapping[str, JSON]) -> JSON:
    if isinstance(value, str):
        return found.get(value, value)
    if isinstance(value, list):
        return [_filled(one, found) for one in value]
    if isinstance(value, dict):
        return {name: _filled(one, found) for name, one in value.items()}
    return value
