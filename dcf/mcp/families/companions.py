"""Companions of a session: made, listed and dismissed, and those that are MCP clients at work."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from control_plane import encode_name
from dcf.mcp.companion_answers import CompanionList, CompanionShown, TaskReceived, TaskReported
from dcf.mcp.envelope import Refused
from dcf.mcp.external_work import register_agent
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import (
    By,
    CompanionId,
    ConductorId,
    LeaseToken,
    OtherwiseKnown,
    Reason,
    Seconds,
    SessionId,
    TaskId,
)
from dcf.mcp.outside_companions import forget, still_loaded
from dcf.mcp.platform import Platform
from dcf.mcp.session_access import conductor_of, session_of_companion, session_of_task
from dcf.mcp.session_blocks import labels_of
from dcf.mcp.session_views import companion_row, tags_of, task_row
from dcf.mcp.tool import tool
from dcf.sessions import (
    GENERALIST,
    Companion,
    CompanionExists,
    NewCompanion,
    Session,
    agent_of,
)
from dcf.sessions.companions import receive, report_progress, report_result

_WAIT_S = 600
_LEASE_S = 300


@tool("conductor", strict=True)
async def create_companion(
    platform: Platform,
    session_id: SessionId,
    conductor_id: ConductorId,
    specialization: Annotated[str, Obvious("What it is best at.")] = GENERALIST,
    shared_block_ids_json: Annotated[list[str] | None, "Labels of your blocks."] = None,
    initial_skills_json: Annotated[
        list[str] | None, Obvious("Skills whose tasks come to it first.")
    ] = None,
    companion_name: Annotated[str | None, Obvious("Its name.")] = None,
    persona_override: Annotated[str | None, Obvious("Text of its persona.")] = None,
    model: Annotated[str | None, Obvious("What it thinks with.")] = None,
    model_tier: Annotated[int | None, "At least, 0 to 3."] = None,
    external: Annotated[bool, "A client serves it, with receive_task."] = False,
) -> CompanionShown:
    """Make a companion."""
    labels, warnings = await labels_of(platform, conductor_id, shared_block_ids_json or [])
    new = NewCompanion(
        conductor_id,
        specialization=specialization,
        skills=tuple(initial_skills_json or ()),
        tier=model_tier,
        model=model,
        persona=persona_override,
        shared_blocks=tuple(labels),
        name=companion_name,
        external=external,
    )
    status = "created"
    try:
        companion = await platform.sessions.employ(session_id, new)
    except CompanionExists as exists:
        there = await platform.sessions.get(session_id)
        found = there.companions.get(str(exists.fields["companion_id"]))
        if found is None or not _is_that_of(new, found):
            raise
        # The answer to the first call was lost.
        status, companion = "exists", found
    session = await platform.sessions.get(session_id)
    answer = _shown(platform, status, session, companion)
    answer["shared_blocks_attached"] = list(companion.shared_blocks)
    if warnings:
        answer["warnings"] = warnings
    return answer


@tool("conductor", strict=True)
async def dismiss_companion(
    platform: Platform,
    companion_id: CompanionId,
    unload_skills: Annotated[bool, NoEffect("Always so.")] = True,
    detach_shared_blocks: Annotated[bool, NoEffect("Always so.")] = True,
    session_id: OtherwiseKnown = None,
    reason: Reason = None,
    conductor_id: By = None,
) -> CompanionShown:
    """Let a companion go; its task goes to another."""
    session_id = await session_of_companion(platform, companion_id, session_id)
    by = await conductor_of(platform, session_id, conductor_id)
    before = await platform.sessions.get(session_id)
    gone = await platform.sessions.dismiss(session_id, companion_id, by=by, reason=reason)
    answer = _shown(platform, "dismissed", before, gone)
    answer["skills_unloaded"] = await forget(platform, session_id, [gone])
    answer["blocks_detached"] = list(gone.shared_blocks)
    return answer


@tool("conductor", "strategist")
async def list_session_companions(
    platform: Platform,
    session_id: SessionId,
    include_status: Annotated[bool, NoEffect("Always so.")] = True,
    specialization_filter: Annotated[str | None, Obvious("Only those.")] = None,
) -> CompanionList:
    """List the companions of a session, and what each is doing."""
    session = await platform.sessions.get(session_id)
    rows = [
        companion_row(session, one, platform.config.env)
        for one in session.companions.values()
        if specialization_filter in (None, "", one.specialization)
    ]
    return {"session_id": session_id, "companions": rows, "count": len(rows)}


@tool("conductor", "companion", strict=True)
async def update_companion_status(
    platform: Platform,
    companion_id: CompanionId,
    status: Annotated[str | None, "idle, or error: it gets no tasks."] = None,
    specialization: Annotated[str | None, Obvious("What it is best at now.")] = None,
    current_task_id: Annotated[str | None, NoEffect("The session knows.")] = None,
    session_id: OtherwiseKnown = None,
    reason: Reason = None,
) -> CompanionShown:
    """Say whether a companion can work, or what it is best at."""
    session_id = await session_of_companion(platform, companion_id, session_id)
    before = (await platform.sessions.get(session_id)).companions.get(companion_id)
    said = {"status": status, "specialization": specialization, "reason": reason}
    companion = await platform.sessions.describe(session_id, companion_id, **said)
    session = await platform.sessions.get(session_id)
    answer = _shown(platform, "updated", session, companion)
    answer["updated_tags"] = answer["tags"]
    answer["previous_tags"] = [] if before is None else tags_of(session_id, before)
    return answer


@tool("companion", limit_s=_WAIT_S + 60)
async def receive_task(
    platform: Platform,
    session_id: SessionId,
    companion_id: CompanionId,
    wait_s: Annotated[float, Obvious("Wait so long for one."), Field(ge=0, le=_WAIT_S)] = 0,
    lease_ttl_s: Seconds = _LEASE_S,
) -> TaskReceived:
    """Take your task, as a companion from outside. It stays yours while you report progress within
    lease_seconds."""
    found = await receive(
        platform.sessions,
        session_id,
        companion_id,
        wait_s=wait_s,
        lease_ms=1000 * (lease_ttl_s or _LEASE_S),
    )
    if found is None:
        return {"status": "no_task", "companion_id": companion_id, "task": None}
    agent_id = agent_of(session_id, companion_id)
    warnings = [one] if (one := await register_agent(platform, agent_id)) else []
    place = {
        "agent_id": agent_id,
        "workflow_id": found.task.task_id,
        "state": encode_name(found.task.state),
    }
    return {
        "status": "task_received",
        "companion_id": companion_id,
        "task": {**found.to_json(), **place},
        "warnings": warnings,
    }


@tool("companion")
async def report_task_progress(
    platform: Platform,
    companion_id: CompanionId,
    task_id: TaskId,
    lease_token: LeaseToken,
    progress_pct: Annotated[float | None, Obvious("0 to 100.")] = None,
    message: Annotated[str | None, Obvious("How far it is.")] = None,
    session_id: OtherwiseKnown = None,
) -> TaskReported:
    """Keep your task. If it is refused, stop."""
    session_id = await session_of_task(platform, task_id, session_id)
    lease_ms = await report_progress(
        platform.sessions,
        session_id,
        companion_id,
        task_id,
        lease_token,
        progress_pct=progress_pct,
        message=message,
    )
    return {
        "status": "kept",
        "session_id": session_id,
        "task_id": task_id,
        "companion_id": companion_id,
        "lease_seconds": lease_ms / 1000,
    }


@tool("companion", strict=True)
async def report_task_result(
    platform: Platform,
    companion_id: CompanionId,
    task_id: TaskId,
    status: Annotated[str, "succeeded, failed or partial."],
    summary: Annotated[str, Obvious("One or two sentences.")],
    conductor_id: Annotated[str | None, NoEffect("The task knows.")] = None,
    output_data_json: Annotated[Any, Obvious("The result.")] = None,
    artifacts_json: Annotated[list[Any] | None, Obvious("Paths of files.")] = None,
    error_code: Annotated[str | None, Obvious("Of a failure.")] = None,
    error_message: Annotated[str | None, Obvious("What happened.")] = None,
    metrics_json: Annotated[dict[str, Any] | None, Obvious("What was counted.")] = None,
    lease_token: Annotated[str | None, Obvious("Of receive_task; required.")] = None,
    session_id: OtherwiseKnown = None,
) -> TaskReported:
    """End your task, once; needs the lease_token."""
    if not lease_token:
        hint = "receive_task gives the task and its lease_token"
        raise Refused("lease_required", "a report needs the token of the task's lease", hint=hint)
    session_id = await session_of_task(platform, task_id, session_id)
    task = await report_result(
        platform.sessions,
        session_id,
        companion_id,
        task_id,
        lease_token,
        status=status,
        summary=summary,
        output_data=output_data_json,
        artifacts=artifacts_json,
        error_code=error_code,
        error_message=error_message,
        metrics=metrics_json,
    )
    session = await platform.sessions.get(session_id)
    left = await still_loaded(platform, agent_of(session_id, companion_id))
    return {
        "status": "reported",
        "session_id": session_id,
        "task_id": task_id,
        "companion_id": companion_id,
        "conductor_id": task.by,
        "message_sent": not task.is_open,
        "delegation_log_updated": not task.is_open,
        "run_id": task_id,
        "task": task_row(session, task),
        "warnings": [f"{one} is still loaded: unload_skill" for one in left],
    }


def _is_that_of(new: NewCompanion, companion: Companion) -> bool:
    """Whether the companion was made by this very call."""
    asked = (new.by, " ".join(new.specialization.split()), new.external, new.model, new.tier)
    made = (
        companion.created_by,
        companion.specialization,
        companion.external,
        companion.model,
        companion.tier,
    )
    return asked == made


def _shown(
    platform: Platform, status: str, session: Session, companion: Companion
) -> CompanionShown:
    row = companion_row(session, companion, platform.config.env)
    return {
        "status": status,
        "session_id": session.session_id,
        "companion_id": companion.companion_id,
        "companion_name": companion.name,
        "specialization": companion.specialization,
        "companion_status": companion.status,
        "tags": row["tags"],
        "skills_loaded": row["initial_skills"],
        "model_config": row["model_config"],
    }


FAMILY = (
    create_companion,
    dismiss_companion,
    list_session_companions,
    update_companion_status,
    receive_task,
    report_task_progress,
    report_task_result,
)
