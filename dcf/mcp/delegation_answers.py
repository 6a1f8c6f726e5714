"""What the tools of delegation answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope


class Delegated(Envelope, total=False):
    """A task that was delegated."""

    task_id: Annotated[str, Field(description="Id of the task.")]
    session_id: Annotated[str, Field(description="Id of the session.")]
    conductor_id: Annotated[str, Field(description="Who delegated it.")]
    companion_id: Annotated[str | None, Field(description="Who has it; null while it waits.")]
    message_sent: Annotated[bool, Field(description="Whether somebody has it already.")]
    delegation_logged: Annotated[bool, Field(description="Always so: it is in the session.")]
    run_id: Annotated[str | None, Field(description="Id of its run, once somebody has it.")]
    model_selection: Annotated[
        dict[str, Any] | None, Field(description="What it is done with, once it is done.")
    ]
    task: Annotated[dict[str, Any], Field(description="The task as it is now.")]


class BroadcastSent(Envelope, total=False):
    """A task for several."""

    task_id: Annotated[str, Field(description="Id that stands for all of them.")]
    session_id: Annotated[str, Field(description="Id of the session.")]
    conductor_id: Annotated[str, Field(description="Who delegated it.")]
    companions_assigned: Annotated[list[str], Field(description="For whom it is.")]
    companions_available: Annotated[int, Field(description="How many would suit.")]
    delegation_results: Annotated[
        list[dict[str, Any]],
        Field(description="{companion_id, task_id, success, error}; success: it has it already."),
    ]
    task: Annotated[dict[str, Any], Field(description="The task as it is now.")]


class TaskList(Envelope, total=False):
    """Tasks of a session."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    tasks: Annotated[
        list[dict[str, Any]],
        Field(
            description="{task_id, status, description, companion_id, priority, skills, after, "
            "deadline, why, summary, error, reference, …}."
        ),
    ]
    count: Annotated[int, Field(description="How many there are in all.")]
    next_after: Annotated[str | None, Field(description="Pass it as after for later ones.")]


class TaskChanged(Envelope, total=False):
    """A task after a change."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    task_id: Annotated[str, Field(description="Id of the task.")]
    task: Annotated[dict[str, Any], Field(description="The task as it is now.")]


class TaskResult(Envelope, total=False):
    """What a task came to."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    task_id: Annotated[str, Field(description="Id of the task.")]
    task: Annotated[dict[str, Any], Field(description="The task as it is now.")]
    output: Annotated[Any, Field(description="All that it put out; null without any.")]
    artifacts: Annotated[list[Any], Field(description="Paths of files.")]
    metrics: Annotated[dict[str, Any], Field(description="What was counted.")]
    results: Annotated[
        dict[str, Any], Field(description="Of a broadcast: task to what it put out.")
    ]


class TaskExplained(Envelope, total=False):
    """Why a task stands where it stands."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    task_id: Annotated[str, Field(description="Id of the task.")]
    task_status: Annotated[str, Field(description="Its status.")]
    summary: Annotated[str, Field(description="The answer in one sentence.")]
    attempts: Annotated[
        list[dict[str, Any]], Field(description="{companion_id, at, why, lost}: who had it.")
    ]
    run: Annotated[
        dict[str, Any] | None,
        Field(description="{workflow_id, status, summary, reasons, workers} of its run."),
    ]
    events: Annotated[list[dict[str, Any]], Field(description="What happened to it.")]
