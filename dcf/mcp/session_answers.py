"""What the tools of sessions answer."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope


class SessionShown(Envelope, total=False):
    """A session."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    block_id: Annotated[str | None, Field(description="The conductor's block that shows it.")]
    block_label: Annotated[str, Field(description="Label of that block.")]
    updated_fields: Annotated[list[str], Field(description="What was changed.")]
    state: Annotated[str, Field(description="active, paused, completing, completed or abandoned.")]
    revision: Annotated[int, Field(description="Of the session; each change counts.")]
    objective: Annotated[str, Field(description="What it is for.")]
    conductors: Annotated[list[str], Field(description="Who may delegate in it.")]
    counts: Annotated[
        dict[str, int],
        Field(description="Tasks: {delegated, succeeded, failed, partial, cancelled, open}."),
    ]
    preferences: Annotated[dict[str, Any], Field(description="Of the person.")]
    shared_data: Annotated[dict[str, Any], Field(description="What all share.")]
    announcements: Annotated[
        list[dict[str, str]], Field(description="The last 20, {timestamp, message}.")
    ]
    active_tasks: Annotated[list[str], Field(description="Ids of open tasks.")]
    completed_tasks: Annotated[list[str], Field(description="Ids of the last closed ones.")]
    companions: Annotated[dict[str, int], Field(description="How many, by status.")]
    created_at: Annotated[str, Field(description="ISO 8601.")]
    updated_at: Annotated[str, Field(description="ISO 8601.")]
    ended_at: Annotated[str | None, Field(description="ISO 8601.")]
    reason: Annotated[str | None, Field(description="Why it is paused or over.")]


class SessionList(Envelope, total=False):
    """Sessions."""

    sessions: Annotated[
        list[dict[str, Any]],
        Field(description="{session_id, state, objective, conductors, created_at, counts}."),
    ]
    next_after: Annotated[int | None, Field(description="Pass it as after for older ones.")]


class SessionEnded(Envelope, total=False):
    """The end of a session."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    state: Annotated[str, Field(description="completing while tasks are open.")]
    open_tasks: Annotated[list[str], Field(description="What it waits for.")]
    companions_dismissed: Annotated[list[str], Field(description="Ids of all that are gone.")]
    wisdom_preserved: Annotated[
        list[dict[str, Any]],
        Field(
            description="What each companion did: {companion_id, companion_name, specialization, "
            "tasks_completed, task_history, collected_at}."
        ),
    ]
    session_block_deleted: Annotated[bool, Field(description="Whether the block is gone.")]


class Archived(Envelope, total=False):
    """The archive of a session."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    path: Annotated[str, Field(description="The folder.")]
    files: Annotated[list[str], Field(description="What is in it.")]


class Talked(Envelope, total=False):
    """What the conductor says."""

    session_id: Annotated[str, Field(description="Id of the session.")]
    request: Annotated[str, Field(description="Id of the request; the same again is answered.")]
    text: Annotated[str, Field(description="The answer; with wait_s also what came later.")]
    task_ids: Annotated[list[str], Field(description="Tasks that serve the request.")]
    rows: Annotated[list[dict[str, Any]], Field(description="The tasks as they are now.")]
    questions: Annotated[list[str], Field(description="What the person is asked.")]
    fired: Annotated[list[dict[str, Any]], Field(description="Rules that fired, and why.")]
    open_tasks: Annotated[list[str], Field(description="Not over yet; ask again with wait_s.")]
