"""What somebody outside gets with a lease, and how choreography hands it over."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from control_plane import Commit, Committed, Lease, Refusal, Store, payload
from dcf.workflow.run import iso
from dcf.workflow.task import Outcome, Task


@dataclass(frozen=True, slots=True)
class Assignment:
    """A Task that somebody outside works on under ``task.lease``."""

    task: Task

    def to_json(self) -> dict[str, Any]:
        """What the work needs: ``{input, instructions, skills, tool_name, deadline, heartbeat_s,
        idempotency_key, fence, visit, try}`` and, where the Task has one, ``task_token``."""
        task, lease = self.task, self.task.lease
        binding = task.state.binding or {}
        given: dict[str, Any] = {
            "state": lease.path,
            "name": task.state.name,
            "input": task.arguments,
            "instructions": task.state.comment,
            "skills": list(binding.get("skills", ())),
            "tool_name": binding.get("tool_name"),
            "resource": task.state.resource,
            "deadline": _deadline(task),
            "heartbeat_s": task.heartbeat_s,
            "idempotency_key": lease.idempotency_key,
            "fence": lease.fence,
            "visit": lease.visit,
            "try": lease.try_,
        }
        if task.token is not None:
            given["task_token"] = task.token
        return given


class HandedOver(BaseException):
    """Control flow: a step came to the work of its Task, which is done elsewhere. Nothing is
    committed; the lease goes on."""

    def __init__(self, task: Task) -> None:
        super().__init__(task.lease.path)
        self.task = task


async def hand_over(task: Task) -> Outcome:
    """Perform nothing. Raises HandedOver."""
    raise HandedOver(task)


class ExternalStore(Store):
    """A store that goes on in place where no work is to be done: into flow states and frames, not
    into Tasks, whose time would begin to run.

    Ids of commits follow from token and fence of the lease and from the ``outcome`` it ends with:
    what is said twice is recognised, and what is said under a later lease with the same token, or
    says something else, is something else.
    """

    def __init__(self, store: Store, lease: Lease, outcome: Outcome | None) -> None:
        super().__init__(store.backend, pool=store.pool, cluster=store.cluster)
        self._mark = commit_mark(lease.token, lease.fence) + outcome_mark(outcome)
        self._made = 0

    def new_id(self) -> str:
        self._made += 1
        return f"{self._mark}{self._made:04x}"

    async def commit(
        self, lease: Lease, commit: Commit, *, commit_id: str, in_place: bool = False
    ) -> Committed | Refusal:
        in_place = in_place and (commit.enter is None or commit.enter.type != "Task")
        return await super().commit(lease, commit, commit_id=commit_id, in_place=in_place)


def commit_mark(token: str, fence: int) -> str:
    """How the ids of all commits under a lease begin."""
    return payload.digest(f"{token}/{fence}/commit")[:16]


def outcome_mark(outcome: Outcome | None) -> str:
    """What the id of a commit says of the outcome it was made with, after the lease's mark."""
    try:
        text = json.dumps(outcome, sort_keys=True, default=_members)
    except (TypeError, ValueError, RecursionError):
        # No document: the commit says so, and one like it says the same.
        text = type(outcome).__name__
    return payload.digest(text)[:12]


def _members(value: object) -> dict[str, Any]:
    if not is_dataclass(value):
        raise TypeError(f"a {type(value).__name__} is no part of an outcome")
    return {field.name: getattr(value, field.name) for field in fields(value)}


def retimed(lease: Lease, ttl_ms: int | None) -> Lease:
    """``lease`` with another time to live, in milliseconds."""
    return lease if ttl_ms is None else replace(lease, ttl_ms=ttl_ms)


def _deadline(task: Task) -> str | None:
    """When its time limit passes, counted from the start of this lease."""
    started = task.lease.times.get("started")
    if task.timeout_s is None or started is None:
        return None
    return iso(started + round(task.timeout_s * 1000))
