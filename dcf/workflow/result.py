"""What came out of a run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from control_plane import JSON, Failure, RunStatus, Store


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a run: ``output`` when it succeeded, ``failure`` when it did not."""

    workflow_id: str
    name: str
    status: RunStatus
    output: JSON
    failure: Failure | None
    started_at: int | None
    finished_at: int | None

    def to_json(self) -> dict[str, Any]:
        return {
            "workflow_id": self.workflow_id,
            "workflow_name": self.name,
            "status": self.status,
            "output": self.output,
            "error": self.failure.to_json() if self.failure else None,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
        }


async def result(store: Store, workflow_id: str) -> Result:
    """The result so far; ``output`` is None before the run is over. Raises UnknownRun."""
    run = await store.run(workflow_id)
    output: JSON = None
    if run.status == "succeeded" and run.exit is not None:
        found = await store.outputs(workflow_id, [run.exit])
        output = await store.value(workflow_id, found[run.exit]["data"])
    failure = run.error if run.is_over else None
    return Result(
        workflow_id, run.name, run.status, output, failure, run.started_at, run.finished_at
    )


async def wait(store: Store, workflow_id: str, *, poll_s: float = 0.05) -> Result:
    """Wait until the run is over. Raises UnknownRun. Bound it with ``asyncio.timeout``."""
    while await store.run_status(workflow_id) in ("pending", "running"):  # noqa: ASYNC110 - remote
        await asyncio.sleep(poll_s)
    return await result(store, workflow_id)
