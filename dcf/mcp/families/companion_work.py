"""Companions from outside at work: MCP clients that take a task and report what came of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from control_plane import encode_name
from dcf.mcp.companion_answers import TaskReceived, TaskReported
from dcf.mcp.envelope import Refused
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import CompanionId, LeaseToken, OtherwiseKnown, Seconds, SessionId, TaskId
from dcf.mcp.outside_companions import forget, register, still_loaded
from dcf.mcp.platform import Platform
from dcf.mcp.session_access import session_of_task
from dcf.mcp.session_views import task_row
from dcf.mcp.tool import tool
from dcf.sessions import agent_of
from dcf.sessions.companions import admit, receive, report_progress, report_result

_WAIT_S = 600
_LEASE_S = 300


@tool("companion", limit_s=_WAIT_S + 60)
async def receive_task(
    platform: Platform,
    session_id: SessionId,
    companion_id: CompanionId,
    companion_token: Annotated[str, Obvious("Of create_companion.")],
    wait_s: Annotated[float, Obvious("Wait so long for one."), Field(ge=0, le=_WAIT_S)] = 0,
    lease_ttl_s: Seconds = _LEASE_S,
) -> TaskReceived:
    """Take your task, as a companion from outside. Report progress within lease_seconds."""
    await admit(platform.sessions, session_id, companion_id, companion_token)
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
    unnamed = await register(platform, session_id, companion_id)
    place = {
        "agent_id": agent_id,
        "workflow_id": found.task.task_id,
        "state": encode_name(found.task.state),
    }
    return {
        "status": "task_received",
        "companion_id": companion_id,
        "task": {**found.to_json(), **place},
        "warnings": [unnamed] if unnamed else [],
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
    if session.is_over:
        await forget(platform, session_id, session.former.values())
        left = []
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


FAMILY = (receive_task, report_task_progress, report_task_result)
