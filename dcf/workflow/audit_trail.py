"""The audit trail on disk: ``workflows/runs/{workflow_id}/``, for people and for the next planner.

``workflow.json``, ``summary.json``, ``control_plane/meta.json``, ``control_plane/states/*.json``,
``data_plane/outputs/*.json``, ``data_plane/audit/finalize.json`` and ``history.jsonl``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from control_plane import JSON, MissingBlob, Store, history, payload
from dcf.workflow.finalization import finalize
from dcf.workflow.result import result
from dcf.workflow.run import iso
from dcf.workflow.tally import is_earlier, is_tolerated
from dcf.workflow.timeline import Timeline

_LONGEST_NAME = 120


async def write_audit_trail(store: Store, workflow_id: str, root: Path, *, by: str) -> Path:
    """Finalize the run if nobody has, and write its folder under ``root``; the folder.

    Written again, files are replaced one by one, each atomically. Of a value that Redis lost they
    hold the reference. Raises UnknownRun, StillRunning.
    """
    audit = await finalize(store, workflow_id, by=by)
    folder = root / workflow_id
    run = await store.run(workflow_id)
    outcome = await result(store, workflow_id)
    paths = await store.paths(workflow_id)
    documents = await store.states(workflow_id, paths)
    outputs = await store.outputs(workflow_id, paths)
    definition = await _there(store, workflow_id, {"$blob": run.definition})
    _write(folder / "workflow.json", definition)
    given = await _there(store, workflow_id, run.input)
    meta = {name: value for name, value in run.raw.items() if name != "callback_secret"}
    _write(folder / "control_plane" / "meta.json", {**meta, "input": given})
    for path, document in documents.items():
        # What stands in a blob is written out: the folder must do without Redis.
        raw = dict(document.raw)
        for part in ("input", "effective_input", "variables", "event", "fan"):
            if part in raw:
                raw[part] = await _there(store, workflow_id, raw[part])
        _write(folder / "control_plane" / "states" / file_name(path), raw)
    for path, output in outputs.items():
        output["data"] = await _there(store, workflow_id, output["data"])
        _write(folder / "data_plane" / "outputs" / file_name(path), output)
    _write(folder / "data_plane" / "audit" / "finalize.json", audit)
    timeline = Timeline()
    lines = [
        json.dumps(
            {
                "at": iso(event.at),
                **event.event,
                "who": timeline.add(event).who,
                "chain": event.digest,
            },
            ensure_ascii=False,
        )
        async for event in history.read(store, workflow_id)
    ]
    _replace(folder / "history.jsonl", "".join(f"{line}\n" for line in lines))
    errors = [
        {
            "state": path,
            "visit": document.visit,
            **document.error.to_json(),
            **({"tolerated": True} if is_tolerated(path, documents) else {}),
        }
        for path, document in documents.items()
        if document.error is not None and document.status == "failed"
    ]
    terminal = {
        path: output["data"]
        for path, output in outputs.items()
        if path == run.exit and not is_earlier(path)
    }
    _write(
        folder / "summary.json",
        {
            "workflow_id": workflow_id,
            "workflow_name": run.name,
            "final_status": run.status,
            "started_at": iso(run.started_at or 0),
            "finished_at": iso(run.finished_at or 0),
            "finalized_at": iso(run.finalized_at or 0),
            "execution_summary": audit["states"],
            "cost_summary": audit["cost"],
            "output": outcome.output,
            "terminal_outputs": [
                {"state": path, "output": output} for path, output in terminal.items()
            ],
            "errors": errors,
            "audit_trail_path": str(folder),
        },
    )
    return folder


async def _there(store: Store, workflow_id: str, stored: JSON) -> JSON:
    """The value behind ``stored``; where its blob is lost, what refers to it."""
    try:
        return await store.value(workflow_id, stored)
    except MissingBlob:
        return stored


def file_name(path: str) -> str:
    """A file name for a path: readable, unique, safe on any file system."""
    safe = quote(path, safe=" []@,-_.()%") + ".json"
    if safe.startswith("."):
        safe = "%2E" + safe[1:]
    if len(safe) <= _LONGEST_NAME:
        return safe
    return f"{safe[: _LONGEST_NAME - 20]}~{payload.digest(path)[:12]}.json"


def _write(file: Path, value: Any) -> None:
    _replace(file, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # The process id, since two may write the same trail at the same time.
    part = file.with_name(f".{os.getpid()}.{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
