"""What tasks put out, read from their runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from control_plane import BadName, MissingBlob, Store, UnknownRun
from dcf.sessions.archive.folder import write_text
from dcf.sessions.archive.redacting import clean
from dcf.sessions.task import SessionTask

LARGE = 64 * 1024
"""Bytes of JSON; a larger output is a file of its own."""


async def results(store: Store, tasks: Sequence[SessionTask], folder: Path) -> list[dict[str, Any]]:
    """An entry for each task, in their order; large outputs are written to ``folder``/results. One
    that cannot be read any more says why in ``missing``."""
    return [await _result(store, task, folder) for task in tasks]


async def _result(store: Store, task: SessionTask, folder: Path) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "task_id": task.task_id,
        "status": task.status,
        "summary": clean(task.summary),
        "error": clean(task.error),
        "reference": task.reference,
    }
    if task.kind == "group":
        return {**entry, "broadcast_to": list(task.children)}
    if task.is_open or task.first_at is None or task.is_namesake:
        return entry
    try:
        output, failure = await _of_run(store, task.task_id)
    except (UnknownRun, BadName, MissingBlob) as gone:
        return {**entry, "missing": str(gone)}
    if failure is not None:
        entry["error"] = clean(failure)
    if output is None:
        return entry
    text = json.dumps(clean(output), ensure_ascii=False)
    size = len(text.encode("utf-8", "replace"))
    if size <= LARGE:
        return {**entry, "output": json.loads(text)}
    # The id is that of a run, which has neither dots nor slashes.
    name = f"results/{task.task_id}.json"
    write_text(folder / name, text + "\n")
    return {**entry, "output_file": name, "output_size": size}


async def _of_run(store: Store, task_id: str) -> tuple[dict[str, Any] | None, Any]:
    """The whole output of the run's last state, and why the run failed."""
    run = await store.run(task_id)
    failure = run.error.to_json() if run.error is not None else None
    if run.exit is None:
        return None, failure
    output = (await store.outputs(task_id, [run.exit])).get(run.exit)
    if output is None:
        return None, failure
    return {**output, "data": await store.value(task_id, output["data"])}, failure
