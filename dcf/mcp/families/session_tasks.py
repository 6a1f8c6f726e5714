"""Tasks of a session after they were delegated: followed, taken back, read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dcf.mcp.delegation_answers import TaskChanged, TaskExplained, TaskList, TaskResult
from dcf.mcp.envelope import Refused
from dcf.mcp.help import Obvious
from dcf.mcp.kinds import By, CompanionId, OtherwiseKnown, Reason, SessionId, TaskId
from dcf.mcp.platform import Platform
from dcf.mcp.session_access import conductor_of, session_of_task
from dcf.mcp.session_views import task_row
from dcf.mcp.task_story import explained, output_of
from dcf.mcp.tool import tool
from dcf.sessions import Session, SessionTask, TaskStatus

Shown = TaskStatus | Literal["open", "closed"]


@tool("conductor", strict=True)
async def cancel_task(
    platform: Platform,
    task_id: TaskId,
    session_id: OtherwiseKnown = None,
    reason: Reason = None,
    conductor_id: By = None,
) -> TaskChanged:
    """End a task that nobody needs any more."""
    session_id = await session_of_task(platform, task_id, session_id)
    by = await conductor_of(platform, session_id, conductor_id)
    task = await platform.sessions.cancel(session_id, task_id, by=by, reason=reason)
    return await _now(platform, "cancelled", session_id, task)


@tool("conductor", strict=True)
async def redelegate_task(
    platform: Platform,
    task_id: TaskId,
    companion_id: Annotated[str | None, Obvious("Who shall have it; else any that suits.")] = None,
    session_id: OtherwiseKnown = None,
    reason: Reason = None,
    conductor_id: By = None,
) -> TaskChanged:
    """Give a task to another companion, or to any."""
    session_id = await session_of_task(platform, task_id, session_id)
    by = await conductor_of(platform, session_id, conductor_id)
    task = await platform.sessions.redelegate(
        session_id, task_id, companion_id or None, by=by, reason=reason or ""
    )
    return await _now(platform, "redelegated", session_id, task)


@tool("conductor", "strategist")
async def list_session_tasks(
    platform: Platform,
    session_id: SessionId,
    status: Annotated[Shown | None, Obvious("Only those.")] = None,
    companion_id: Annotated[CompanionId | None, Obvious("Only its.")] = None,
    limit: Annotated[int, Obvious("At most so many."), Field(ge=1, le=500)] = 50,
    after: Annotated[str | None, Obvious("next_after of the page before.")] = None,
) -> TaskList:
    """List tasks in their order, with why each waits."""
    session = await platform.sessions.get(session_id)
    every = await platform.sessions.tasks(session_id)
    wanted = [
        task
        for task in every
        if _is_shown(task, status) and companion_id in (None, "", task.companion_id, task.wanted)
    ]
    start = 0
    if after is not None:
        ids = [task.task_id for task in wanted]
        if after not in ids:
            raise Refused("bad_arguments", "after: is no next_after of an earlier answer")
        start = ids.index(after) + 1
    page = wanted[start : start + limit]
    more = len(wanted) > start + limit
    return {
        "session_id": session_id,
        "tasks": [task_row(session, task) for task in page],
        "count": len(wanted),
        "next_after": page[-1].task_id if more else None,
    }


@tool("conductor", "strategist")
async def read_task_result(
    platform: Platform, task_id: TaskId, session_id: OtherwiseKnown = None
) -> TaskResult:
    """Read all that a task put out."""
    session_id = await session_of_task(platform, task_id, session_id)
    task = await platform.sessions.task(session_id, task_id)
    session = await platform.sessions.get(session_id)
    answer: TaskResult = {
        "status": task.status,
        "session_id": session_id,
        "task_id": task_id,
        "task": task_row(session, task),
        **(await output_of(platform.store, task)),  # type: ignore[typeddict-item]
    }
    if task.kind == "group":
        children = [await platform.sessions.task(session_id, one) for one in task.children]
        answer["results"] = {
            one.task_id: (await output_of(platform.store, one))["output"] for one in children
        }
    return answer


@tool("conductor", "strategist")
async def explain_task(
    platform: Platform, task_id: TaskId, session_id: OtherwiseKnown = None
) -> TaskExplained:
    """Say why a task waits, where it is, or how it came to its end."""
    session_id = await session_of_task(platform, task_id, session_id)
    return await explained(platform.sessions, session_id, task_id)  # type: ignore[return-value]


def _is_shown(task: SessionTask, status: str | None) -> bool:
    if status in ("open", "closed"):
        return task.is_open == (status == "open")
    return status is None or task.status == status


async def _now(platform: Platform, status: str, session_id: str, task: SessionTask) -> TaskChanged:
    session: Session = await platform.sessions.get(session_id)
    row = task_row(session, session.tasks.get(task.task_id, task))
    return {"status": status, "session_id": session_id, "task_id": task.task_id, "task": row}


FAMILY = (
    cancel_task,
    redelegate_task,
    list_session_tasks,
    read_task_result,
    explain_task,
)
