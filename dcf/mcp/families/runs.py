"""Runs: which there are, why one stands where it stands, what happened, how it ends."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated, Any

from pydantic import Field

from control_plane import (
    HistoryEvent,
    Refusal,
    RunStatus,
    UnknownAgent,
    history,
    read_agent_history,
    run_lists,
)
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import RunId
from dcf.mcp.platform import Platform
from dcf.mcp.run_end import agents_of, end_run
from dcf.mcp.tool import tool
from dcf.mcp.views import moment
from dcf.workflow import Timeline, explain, redrive

_BY = "dcf-mcp"
_PLACE = re.compile("[0-9]{1,18}(?:-[0-9]{1,18})?")
"""Where a history goes on: the id of an entry."""
_Limit = Annotated[int, Obvious("At most so many."), Field(ge=1, le=500)]


class Runs(Envelope, total=False):
    """Runs, the newest first."""

    runs: Annotated[
        list[dict[str, Any]],
        Field(description="{workflow_id, workflow_name, status, pool, started_at, finished_at}."),
    ]
    next_after: Annotated[str | None, Field(description="Where to go on; null at the end.")]


class Explained(Envelope, total=False):
    """Why a run stands where it stands."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    run_status: Annotated[str, Field(description="Status of the run.")]
    summary: Annotated[str, Field(description="The answer in one sentence.")]
    reasons: Annotated[
        list[dict[str, Any]], Field(description="{path, status, why, command} of open states.")
    ]
    workers: Annotated[
        int | None,
        Field(description="How many workers read the run's pool; null while Redis refuses writes."),
    ]


class Events(Envelope, total=False):
    """What happened in a run or to an agent."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    agent_id: Annotated[str, Field(description="Id of the agent.")]
    events: Annotated[
        list[dict[str, Any]], Field(description="In order, each with at, type, who and its fields.")
    ]
    next_after: Annotated[str | None, Field(description="Where to go on; null at the end.")]


class Moved(Envelope, total=False):
    """A run that was cancelled or goes on."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    again: Annotated[list[str], Field(description="States that run once more.")]
    resumed: Annotated[list[str], Field(description="Joins that open again.")]


class Finalized(Envelope, total=False):
    """The end of a run."""

    workflow_id: Annotated[str, Field(description="Id of the run.")]
    summary: Annotated[
        dict[str, Any],
        Field(
            description="states {total, pending, running, done, failed, cancelled}, agents "
            "{to_delete, deleted, delete_errors}, final_status, amsp."
        ),
    ]
    agents: Annotated[list[dict[str, Any]], Field(description="{state, agent_id, deleted, error}.")]
    audit: Annotated[dict[str, Any], Field(description="The sealed audit record.")]
    audit_trail_path: Annotated[str, Field(description="Folder of the audit trail.")]


@tool("planner", "worker", "reflector", "strategist")
async def list_runs(
    platform: Platform,
    status: Annotated[RunStatus | None, Obvious("Only those.")] = None,
    limit: _Limit = 50,
    after: Annotated[str | None, Obvious("next_after of the page before.")] = None,
) -> Runs:
    """List runs, the newest first."""
    page = await run_lists.list_runs(platform.store, limit, status=status, after=after)
    found = [
        {
            "workflow_id": run.workflow_id,
            "workflow_name": run.name,
            "status": run.status,
            "pool": run.pool,
            "started_at": run.started_at and moment(run.started_at / 1000),
            "finished_at": run.finished_at and moment(run.finished_at / 1000),
            "error": run.error.to_json() if run.error else None,
        }
        for run in page.runs
    ]
    answer: Runs = {"runs": found, "next_after": page.next_after}
    warnings = [f"left out: {error}" for error in page.broken]
    if page.refused is not None:
        warnings.append(f"{page.refused}; runs may be missing from this list")
    if warnings:
        answer["warnings"] = warnings
    return answer


@tool("planner", "worker", "reflector", "strategist")
async def explain_workflow(platform: Platform, workflow_id: RunId) -> Explained:
    """Say why a run is not moving, and what would unstick it."""
    found = await explain(await platform.store_for(workflow_id), workflow_id)
    fields = found.to_json()
    return {
        "status": "explained",
        "workflow_id": workflow_id,
        "run_status": found.status,
        "summary": found.summary,
        "reasons": list(fields["reasons"]),
        "workers": found.workers,
    }


@tool("planner", "reflector", "strategist")
async def read_history(
    platform: Platform,
    workflow_id: Annotated[RunId | None, Obvious("The run.")] = None,
    agent_id: Annotated[str | None, "Or the agent: what it did outside runs."] = None,
    after: Annotated[str | None, Obvious("next_after of the page before.")] = None,
    limit: _Limit = 200,
) -> Events:
    """Read what happened in a run or to an agent, in order: decisions on tools, retries, ends."""
    if (workflow_id is None) == (agent_id is None):
        raise Refused("bad_arguments", "name either workflow_id or agent_id")
    if after is not None and not _PLACE.fullmatch(after):
        raise Refused("bad_arguments", "after: is no next_after of an earlier answer")
    if workflow_id is not None:
        store = await platform.store_for(workflow_id)
        run_events = history.read(store, workflow_id, after=after or "-")
        return {"workflow_id": workflow_id, **await _page(run_events, limit)}  # type: ignore[typeddict-item]
    events = read_agent_history(platform.agents, str(agent_id), after=after or "-")
    page = await _page(events, limit)
    if not page["events"] and await platform.agents.get(str(agent_id), ()) is None:
        raise UnknownAgent(agent=str(agent_id))
    return {"agent_id": str(agent_id), **page}  # type: ignore[typeddict-item]


async def _page(found: AsyncIterator[HistoryEvent], limit: int) -> dict[str, Any]:
    """``{events, next_after}``: at most ``limit`` events."""
    events: list[dict[str, Any]] = []
    last: str | None = None
    # It begins here: who went on in place with what an earlier page tells of is "worker".
    timeline = Timeline()
    async for one in found:
        if len(events) == limit:
            return {"events": events, "next_after": last}
        who = timeline.add(one).who
        events.append({"at": moment(one.at / 1000), **one.event, "who": who})
        last = one.entry
    return {"events": events, "next_after": None}


@tool("planner", strict=True)
async def cancel_workflow(
    platform: Platform,
    workflow_id: RunId,
    reason: Annotated[str, Obvious("Why, for the history.")] = "",
) -> Moved:
    """Cancel a run. Work under way can write nothing any more."""
    store = await platform.store_for(workflow_id)
    refusal = await store.cancel(workflow_id, by=_BY, reason=reason)
    if isinstance(refusal, Refusal):
        status = await store.run_status(workflow_id)
        raise Refused(refusal.code, f"the run is {status}", workflow_id=workflow_id)
    return {"status": "cancelled", "workflow_id": workflow_id}


@tool("planner", strict=True)
async def redrive_workflow(platform: Platform, workflow_id: RunId) -> Moved:
    """Let a failed or cancelled run go on: what is done stays done, what broke runs again."""
    plan = await redrive(await platform.store_for(workflow_id), workflow_id, by=_BY)
    return {
        "status": "redriven",
        "workflow_id": workflow_id,
        "again": plan.again,
        "resumed": plan.resume,
    }


@tool("planner", strict=True)
async def finalize_workflow(
    platform: Platform,
    workflow_id: RunId,
    delete_worker_agents: Annotated[bool, Obvious("Delete the agents assigned to it.")] = True,
    preserve_planner: Annotated[bool, Obvious("Keep the planner's agent.")] = True,
    close_open_states: Annotated[bool, Obvious("Cancel a run that is not over.")] = True,
    overall_status: Annotated[
        str | None, NoEffect("Not taken over: the run's own status holds.")
    ] = None,
    finalize_note: Annotated[str | None, "Reason, where it is cancelled."] = None,
) -> Finalized:
    """End a run and seal its audit record; a run that is not over is cancelled, never a success."""
    store = await platform.store_for(workflow_id)
    ended = await end_run(
        store, workflow_id, cancel=close_open_states, note=finalize_note or "", by=_BY,
        runs=platform.config.runs,
    )  # fmt: skip
    rows, others = await agents_of(
        platform, store, workflow_id, delete=delete_worker_agents, keep_planner=preserve_planner
    )
    deleted = sum(row["deleted"] for row in rows) + others
    answer: Finalized = {
        "status": "finalized",
        "workflow_id": workflow_id,
        "summary": {
            "states": ended.states,
            "agents": {
                "to_delete": len(rows) + others if delete_worker_agents else 0,
                "deleted": deleted,
                "delete_errors": sum(row["error"] is not None for row in rows),
            },
            "final_status": ended.audit["final_status"],
            "amsp": ended.amsp,
        },
        "agents": rows,
        "audit": ended.audit,
        "audit_trail_path": str(ended.folder),
        "warnings": ended.warnings,
    }
    if overall_status is not None and overall_status != ended.audit["final_status"]:
        answer["warnings"] = [
            *ended.warnings,
            f"overall_status {overall_status!r} is not taken over: the run is "
            f"{ended.audit['final_status']}",
        ]
    return answer


FAMILY = (
    list_runs,
    explain_workflow,
    read_history,
    cancel_workflow,
    redrive_workflow,
    finalize_workflow,
)
