"""Finalization: a run that is over gets its open documents closed, its counts, its cost and a
sealed audit record. ``cancelled`` never counts as success. Safe to repeat, from anywhere."""

from __future__ import annotations

import json
from typing import Any

from control_plane import Store, UnknownRun, history
from dcf.workflow.errors import StillRunning
from dcf.workflow.tally import Tally, is_earlier

_READ = 500
_MOVED = ("history_moved", "still_running", "not_closed")
"""Refusals after which the run is read anew."""


async def finalize(store: Store, workflow_id: str, *, by: str) -> dict[str, Any]:
    """The audit record of the run, written now unless it was written before.

    Raises UnknownRun, StillRunning, CorruptHistory.
    """
    while True:
        run = await store.run(workflow_id)
        if not run.is_over:
            raise StillRunning(
                f"run {workflow_id} is {run.status}; only a run that is over can be "
                "finalized (cancel it first)"
            )
        if run.finalized_at is None:
            # Sealed before anything else is read: if the run is redriven and ends anew meanwhile,
            # the history has moved, and nothing of the earlier end gets into the record.
            sealed = await history.seal(store, workflow_id)
            run = await store.run(workflow_id)
            await store.close(workflow_id)
            tally = await count(store, workflow_id)
            if tally.open:
                # A fail-over lost the close, or a redrive was being prepared.
                continue
            audit = {
                "workflow_id": workflow_id,
                "workflow_name": run.name,
                "final_status": run.status,
                "error": run.raw.get("error"),
                "exit": run.exit,
                "started_at": run.started_at,
                "finished_at": run.finished_at,
                "states": tally.to_json(),
                "cost": tally.cost,
                "history": {"events": sealed.events, "sha256": sealed.sha256},
                "by": by,
            }
            refusal = await store.finalize(
                workflow_id,
                digest=sealed.head,
                paths=tally.documents,
                by=by,
                audit=audit,
                cost=tally.cost,
            )
            if refusal is not None and refusal.code in _MOVED:
                continue
        await store.retire(workflow_id)
        text = await store.backend.command("JSON.GET", store.keys(workflow_id).audit)
        if text is None:
            if (await store.run(workflow_id)).finalized_at is None:
                # A fail-over lost the seal.
                continue
            raise UnknownRun(workflow_id=workflow_id)
        record: dict[str, Any] = json.loads(text)
        return record


async def count(store: Store, workflow_id: str) -> Tally:
    """What the run's documents say now."""
    tally = Tally()
    paths = await store.paths(workflow_id)
    for earlier in (False, True):
        chosen = [path for path in paths if is_earlier(path) is earlier]
        for at in range(0, len(chosen), _READ):
            found = await store.states(workflow_id, chosen[at : at + _READ])
            tally.add(found.values(), earlier=earlier)
    return tally
