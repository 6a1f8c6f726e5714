"""Submitting runs and waiting for them."""

from __future__ import annotations

import json
import time
from typing import Any

from control_plane import Store, new_token
from dcf import workflow
from dcf.workflow import WorkflowDocument

_POLL_S = 0.01


def document(definition: dict[str, Any]) -> WorkflowDocument:
    """A definition, validated."""
    return workflow.load(json.dumps(definition), file="benchmark.json")


async def submit(store: Store, wanted: WorkflowDocument, count: int, value: Any) -> list[str]:
    """Start ``count`` runs; their ids."""
    ids = [f"bench-{new_token()[:12]}" for _ in range(count)]
    for workflow_id in ids:
        await workflow.submit(store, wanted, value, workflow_id=workflow_id)
    return ids


async def finish(store: Store, ids: list[str]) -> float:
    """Wait until all runs succeeded; from the first start to the last end in seconds, by Redis's
    clock. Raises RuntimeError when one did not succeed."""
    for workflow_id in ids:
        result = await workflow.wait(store, workflow_id, poll_s=_POLL_S)
        if result.status != "succeeded":
            raise RuntimeError(f"benchmark run {workflow_id} is {result.status}")
    runs = [await store.run(workflow_id) for workflow_id in ids]
    started = min(run.started_at or 0 for run in runs)
    return max(max(run.finished_at or 0 for run in runs) - started, 1) / 1000


def now() -> float:
    """A monotonic clock in seconds."""
    return time.perf_counter()
