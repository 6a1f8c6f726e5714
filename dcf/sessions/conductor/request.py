"""What a user asked for, and the tasks that serve it."""

from __future__ import annotations


def task_id_of(request_id: str, position: int) -> str:
    """The id of the task at ``position`` (from 1) of a request: a turn that is taken again after a
    crash delegates the same tasks, not more."""
    return f"{request_id}-{position}"
