"""The end of a run for ``finalize_workflow``: cancelled if need be, sealed, written out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from control_plane import Store, UnknownAgent, assigned, damage_is_told
from dcf.mcp.agent_life import by_tool, remove_agent
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.worker import WorkerAgents
from dcf.workflow import count, finalize, is_earlier, write_audit_trail


@dataclass(frozen=True, slots=True)
class Ended:
    """``states`` are counts in the words of the earlier version, as they were before the call;
    ``folder`` holds the audit trail."""

    audit: dict[str, Any]
    states: dict[str, int]
    amsp: dict[str, Any] | None
    folder: Path
    warnings: list[str]


async def end_run(
    store: Store, workflow_id: str, *, cancel: bool, note: str, by: str, runs: Path
) -> Ended:
    """Seal the run and write its audit trail under ``runs``. Raises UnknownRun, BrokenRun,
    Refused."""
    async with damage_is_told(store, workflow_id):
        return await _end_run(store, workflow_id, cancel=cancel, note=note, by=by, runs=runs)


async def _end_run(
    store: Store, workflow_id: str, *, cancel: bool, note: str, by: str, runs: Path
) -> Ended:
    run = await store.run(workflow_id)
    warnings = []
    before = (await count(store, workflow_id)).states
    if not run.is_over:
        if not cancel:
            raise Refused(
                "still_running",
                f"the run is {run.status}",
                hint="wait, or let close_open_states cancel it",
                workflow_id=workflow_id,
            )
        # Whoever is faster ends it; either way it is over then.
        await store.cancel(workflow_id, by=by, reason=note)
        warnings.append("the run was not over: it was cancelled")
    elif note:
        warnings.append("finalize_note is kept only where the call cancels the run")
    audit = await finalize(store, workflow_id, by=by)
    folder = await write_audit_trail(store, workflow_id, runs, by=by)
    cut_off = sum(before[name] for name in ("pending", "ready", "running", "waiting"))
    counted = audit["states"]
    states = {
        "total": counted["total_states"],
        "pending": 0,
        "running": 0,
        "done": counted["succeeded"],
        "failed": counted["failed"],
        "cancelled": counted["cancelled"],
        "skipped": counted["skipped"],
        "open_before": 0 if run.is_over else cut_off,
    }
    return Ended(audit, states, await amsp(store, workflow_id), folder, warnings)


async def amsp(store: Store, workflow_id: str) -> dict[str, Any] | None:
    """What models were selected and what they cost, by tier; None where nothing was recorded."""
    per_tier: dict[str, float] = {}
    selected = measured = escalated = 0
    paths = await store.paths(workflow_id)
    for at in range(0, len(paths), 500):
        for document in (await store.states(workflow_id, paths[at : at + 500])).values():
            if is_earlier(document.path):
                continue
            metrics = document.metrics or {}
            selection = document.raw.get("model_selection") or {}
            selected += bool(selection)
            measured += bool(metrics)
            escalated += bool(metrics.get("tier_escalated"))
            if selection:
                tier = f"tier_{selection.get('tier')}"
                spent = metrics.get("estimated_cost_usd") or 0
                per_tier[tier] = per_tier.get(tier, 0) + spent
    if not selected and not measured:
        return None
    return {
        "states_with_model_selection": selected,
        "states_with_metrics": measured,
        "escalation_count": escalated,
        "cost_per_tier": per_tier,
    }


async def agents_of(
    platform: Platform, store: Store, workflow_id: str, *, delete: bool, keep_planner: bool
) -> tuple[list[dict[str, Any]], int]:
    """The agents assigned to the run's states, deleted where that is asked for; and how many others
    that were made for it, by its workers, went with them."""
    rows = []
    for state, agent_id in sorted((await assigned(store, workflow_id)).items()):
        deleted, error = False, None
        if delete:
            document = await platform.agents.get(agent_id, ())
            if document is not None and keep_planner and "role:planner" in document.tags:
                error = "skipped_planner"
            else:
                try:
                    await remove_agent(platform, agent_id, by=by_tool("finalize_workflow"))
                    deleted = True
                except UnknownAgent:
                    error = "unknown_agent"
        rows.append({"state": state, "agent_id": agent_id, "deleted": deleted, "error": error})
    others = 0
    if delete:
        home = await platform.home()
        others = await WorkerAgents(home.runtime, records=platform.agents).delete(workflow_id)
    return rows, others
