"""What the tools of companions answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope


class CompanionShown(Envelope, total=False):
    """A companion."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    companion_id: Annotated[str, Field(description="Its id.")]
    companion_name: Annotated[str, Field(description="Its name.")]
    specialization: Annotated[str, Field(description="What it is best at.")]
    companion_status: Annotated[str, Field(description="idle, busy, error or lost.")]
    tags: Annotated[list[str], Field(description="The same as tags.")]
    shared_blocks_attached: Annotated[
        list[str], Field(description="Labels of the conductor's blocks that it shares.")
    ]
    skills_loaded: Annotated[
        list[str], Field(description="What it was made for; loaded with each task that asks.")
    ]
    model_config: Annotated[dict[str, Any], Field(description="{tier, model, source}.")]
    companion_token: Annotated[
        str | None,
        Field(
            description="For receive_task, told once, of an external one; until it was used, the "
            "same call again gives another in its place."
        ),
    ]
    updated_tags: Annotated[list[str], Field(description="Its tags after an update.")]
    previous_tags: Annotated[list[str], Field(description="Its tags before.")]
    skills_unloaded: Annotated[list[str], Field(description="Gone with it.")]
    blocks_detached: Annotated[list[str], Field(description="Labels it shares no more.")]


class CompanionList(Envelope, total=False):
    """The companions of a session."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    companions: Annotated[
        list[dict[str, Any]],
        Field(
            description="{companion_id, companion_name, specialization, status, conductor_id, "
            "current_task, loaded_skills, tags, external, served, succeeded, failed}."
        ),
    ]
    count: Annotated[int, Field(description="How many.")]


class TaskReceived(Envelope, total=False):
    """A task for a companion from outside."""

    companion_id: Annotated[str, Field(description="Whose it is.")]
    task: Annotated[
        dict[str, Any] | None,
        Field(
            description="{task_id, task: {description, required_skills, input, priority}, "
            "deadline, lease_token, lease_seconds, fence, agent_id, workflow_id, state}; null when "
            "there is none yet. Skills are loaded and called as agent_id, {session}.{companion}."
        ),
    ]


class TaskReported(Envelope, total=False):
    """What a report came to."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    task_id: Annotated[str, Field(description="Id of the task.")]
    companion_id: Annotated[str, Field(description="Who reported.")]
    conductor_id: Annotated[str, Field(description="Who gets it.")]
    message_sent: Annotated[bool, Field(description="Whether the session has it.")]
    delegation_log_updated: Annotated[bool, Field(description="The same.")]
    run_id: Annotated[str, Field(description="Id of the task's run.")]
    task: Annotated[dict[str, Any], Field(description="The task as it is now.")]
    lease_seconds: Annotated[float, Field(description="How long the task stays yours.")]
