"""Delegation: tasks of a session, given, followed, taken back and read."""

from __future__ import annotations

import json
from typing import Annotated, Any

from dcf.mcp.arguments import Alias
from dcf.mcp.delegation_answers import (
    BroadcastSent,
    Delegated,
)
from dcf.mcp.envelope import Refused
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import (
    ConductorId,
    OtherwiseKnown,
    RunId,
    SessionId,
)
from dcf.mcp.plan_text import plan_text
from dcf.mcp.platform import Platform
from dcf.mcp.session_access import session_of_companion
from dcf.mcp.session_views import task_row
from dcf.mcp.tool import tool
from dcf.sessions import (
    DEADLINE_S,
    Broadcast,
    BroadcastMode,
    Order,
    SessionTask,
    is_suitable,
)

_COMPANIONS = 100
_Description = Annotated[str, "Complete: nothing of the conversation is seen."]
_Skills = Annotated[list[str] | None, Obvious("Skill ids.")]
_Input = Annotated[Any, Obvious("Its input.")]
_Priority = Annotated[str, Obvious("low, normal, high or urgent.")]
_Timeout = Annotated[float, Obvious("Waiting included."), Alias("timeout_s")]
_After = Annotated[list[str] | None, "Task ids to wait for."]
_Own = Annotated[RunId | None, Obvious("Yours: the same again is one task.")]
_Request = Annotated[str | None, Obvious("Id of the request that it serves.")]


@tool("conductor", strict=True)
async def delegate_task(
    platform: Platform,
    conductor_id: ConductorId,
    task_description: _Description,
    companion_id: Annotated[str | None, Obvious("Who shall do it.")] = None,
    required_skills_json: _Skills = None,
    input_data_json: _Input = None,
    priority: _Priority = "normal",
    timeout_seconds: _Timeout = DEADLINE_S,
    session_id: OtherwiseKnown = None,
    specialization: Annotated[
        str | None, Obvious("Or any that has it; else any that is free.")
    ] = None,
    after_json: _After = None,
    refuse_busy: Annotated[bool, Obvious("Do not wait for a busy one.")] = False,
    model_tier: Annotated[int | None, "At least, 0 to 3."] = None,
    context_tokens: Annotated[int | None, "Of project files and memory that it is told."] = None,
    task_id: _Own = None,
    request_id: _Request = None,
) -> Delegated:
    """Delegate a task, to one companion or any that suits. It waits until one is free."""
    if session_id is None and companion_id is None:
        raise Refused("session_id_missing", "which session is it for?", hint="say session_id")
    found = await session_of_companion(platform, companion_id or "", session_id)
    order = Order(
        task_description,
        conductor_id,
        companion_id=companion_id or None,
        specialization=specialization or None,
        skills=tuple(required_skills_json or ()),
        input=input_data_json,
        priority=priority,
        timeout_s=timeout_seconds,
        after=tuple(after_json or ()),
        tier=model_tier,
        context=None if context_tokens is None else {"budget": context_tokens},
        refuse_busy=refuse_busy,
        task_id=task_id,
        request=request_id,
    )
    task = await platform.sessions.delegate(found, order)
    return await _delegated(platform, found, task)


@tool("conductor", strict=True)
async def delegate_workflow(
    platform: Platform,
    conductor_id: ConductorId,
    session_id: SessionId,
    workflow_json: Annotated[str, "Workflow document, or plain ASL."],
    task_description: Annotated[str | None, Obvious("What it is for.")] = None,
    input_data_json: _Input = None,
    timeout_seconds: _Timeout = DEADLINE_S,
    after_json: _After = None,
    task_id: _Own = None,
    request_id: _Request = None,
) -> Delegated:
    """Have workers do a whole workflow as a task. task_id is the id of its run."""
    text, _ = plan_text(workflow_json)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused("bad_arguments", f"workflow_json: is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise Refused("bad_arguments", "workflow_json: is no JSON object")
    order = Order(
        task_description or str(document.get("workflow_name") or "a workflow"),
        conductor_id,
        input={} if input_data_json is None else input_data_json,
        timeout_s=timeout_seconds,
        after=tuple(after_json or ()),
        workflow=document,
        task_id=task_id,
        request=request_id,
        task_type=document.get("workflow_name") or None,
    )
    task = await platform.sessions.delegate(session_id, order)
    return await _delegated(platform, session_id, task)


@tool("conductor", strict=True)
async def broadcast_task(
    platform: Platform,
    conductor_id: ConductorId,
    session_id: SessionId,
    task_description: Annotated[str, Obvious("As for delegate_task.")],
    specialization_filter: Annotated[str | None, Obvious("Only those.")] = None,
    status_filter: Annotated[str, NoEffect("mode says who.")] = "idle",
    required_skills_json: _Skills = None,
    input_data_json: _Input = None,
    max_companions: Annotated[int | None, "Else 1, or for the other modes all."] = None,
    mode: Annotated[BroadcastMode, Obvious("Which, and how many must do it.")] = "first_idle",
    quorum: Annotated[
        int | None, Obvious("How many results are enough; else more than half.")
    ] = None,
    priority: _Priority = "normal",
    timeout_seconds: _Timeout = DEADLINE_S,
    task_id: _Own = None,
    request_id: _Request = None,
) -> BroadcastSent:
    """Delegate a task to several: idle ones, all, or all until a quorum is done."""
    order = Order(
        task_description,
        conductor_id,
        specialization=specialization_filter or None,
        skills=tuple(required_skills_json or ()),
        input=input_data_json,
        priority=priority,
        timeout_s=timeout_seconds,
        task_id=task_id,
        request=request_id,
    )
    most = (
        max_companions
        if max_companions is not None
        else (1 if mode == "first_idle" else _COMPANIONS)
    )
    asked = Broadcast(order, mode, most, quorum)
    task = await platform.sessions.broadcast(session_id, asked)
    session = await platform.sessions.get(session_id)
    each = [session.tasks[one] for one in task.children if one in session.tasks] or [task]
    suits = [
        one
        for one in session.companions.values()
        if is_suitable(one, None, specialization_filter or None)
    ]
    return {
        "status": "broadcast",
        "task_id": task.task_id,
        "session_id": session_id,
        "conductor_id": conductor_id,
        "companions_assigned": [one.companion_id or one.wanted or "" for one in each if _of(one)],
        "companions_available": len(suits),
        "delegation_results": [
            {
                "companion_id": _of(one),
                "task_id": one.task_id,
                "success": one.companion_id is not None,
                "error": (one.error or {}).get("message"),
            }
            for one in each
        ],
        "task": task_row(session, task),
    }


def _of(task: SessionTask) -> str | None:
    return task.companion_id or task.wanted


async def _delegated(platform: Platform, session_id: str, task: SessionTask) -> Delegated:
    session = await platform.sessions.get(session_id)
    task = session.tasks.get(task.task_id, task)
    return {
        "status": "delegated",
        "task_id": task.task_id,
        "session_id": session_id,
        "conductor_id": task.by,
        "companion_id": task.companion_id,
        "message_sent": task.status != "queued",
        "delegation_logged": True,
        "run_id": task.task_id if task.first_at is not None else None,
        "model_selection": task.selection,
        "task": task_row(session, task),
    }


FAMILY = (delegate_task, delegate_workflow, broadcast_task)
