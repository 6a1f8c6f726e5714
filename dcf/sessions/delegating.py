"""Delegating: an order becomes a task that waits. Nothing is given to anybody here."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from control_plane import payload
from dcf.sessions.circles import check_circle
from dcf.sessions.draft import Draft
from dcf.sessions.errors import (
    BadValue,
    CompanionBusy,
    DelegationCycle,
    NoSuchSpecialization,
    TaskExists,
    TooLarge,
    TooMany,
    UnknownCompanion,
)
from dcf.sessions.finding import (
    check_conductor,
    check_taking,
    find_companion,
    find_open_task,
    find_task,
)
from dcf.sessions.order import Order, digest_of, type_of
from dcf.sessions.settling import ask_to_end, take_away
from dcf.sessions.similar import similar
from dcf.sessions.task import PRIORITIES, Priority, SessionTask

OPEN_LIMIT = 500
"""Tasks of one session that wait or are worked on."""
DESCRIPTION_LIMIT = 16 * 1024
INPUT_LIMIT = 256 * 1024
"""Bytes of a task's description and input. Larger inputs are passed by reference."""
ROOM = 3 * 1024 * 1024
"""Bytes of all tasks in the session's document, with room left for assigning and closing them."""
_LONGEST_S = 7 * 24 * 3600
_LONGEST_NAME = 256


def delegate(draft: Draft, order: Order, task_id: str, *, ordered: str = "") -> SessionTask:
    """Write the task. The same order again, under the same ``task_id``, is the same task, whatever
    became of it and of the session. ``ordered`` is the digest of the order that this one is a part
    of. Raises SessionProblem."""
    check_order(order)
    ordered = ordered or digest_of(order)
    known = ordered_before(draft, task_id, ordered)
    if known is not None:
        return known
    wanted = task_of(draft, order, task_id, ordered)
    check_room(draft, 1)
    wanted = _sized(draft, wanted)
    draft.put(wanted)
    draft.count(delegated=1)
    draft.tell(
        "TaskDelegated",
        task_id=task_id,
        by=order.by,
        task_type=wanted.task_type,
        companion_id=wanted.wanted,
        skills=list(wanted.skills) or None,
        priority=wanted.priority,
        description=wanted.description[:200],
        group=wanted.group,
    )
    return wanted


def cancel(draft: Draft, task_id: str, *, by: str, reason: str | None = None) -> SessionTask:
    """Let a task be ended, with those that it stands for. Raises UnknownTask, TaskOver."""
    task = find_open_task(draft, task_id)
    for one in (task, *(draft.tasks[child] for child in task.children)):
        ask_to_end(draft, one, by=by, reason=reason)
    return task


def redelegate(
    draft: Draft, task_id: str, companion_id: str | None, *, by: str, reason: str = ""
) -> SessionTask:
    """Take a task away from whoever has it, for ``companion_id`` or any that is suitable, rather
    another. Raises NoConductor, UnknownTask, TaskOver, BadValue, UnknownCompanion,
    DelegationCycle."""
    check_conductor(draft, by)
    task = find_open_task(draft, task_id)
    if task.kind != "companion":
        is_group = task.kind == "group"
        raise BadValue(
            what=f"Task {task_id}",
            value="a broadcast" if is_group else "a workflow, which workers do",
            wanted="a task of one companion",
            how=f"say one of: {', '.join(task.children)}" if is_group else "cancel it",
        )
    to = None
    if companion_id is not None:
        companion = find_companion(draft, companion_id)
        check_circle(draft, task.by, companion)
        to = companion.companion_id
    if to is not None and to == task.companion_id:
        return task
    return take_away(draft, task, reason or f"{by} gave it to another", to=to)


def ordered_before(draft: Draft, task_id: str, ordered: str) -> SessionTask | None:
    """The task that this order came to; None when it is new. Raises TaskExists when another order
    had the id."""
    known = draft.find(task_id)
    if known is not None and known.ordered != ordered:
        raise TaskExists(task_id=task_id)
    return known


def task_of(draft: Draft, order: Order, task_id: str, ordered: str) -> SessionTask:
    """The task that ``order`` asks for. Raises SessionProblem."""
    check_conductor(draft, order.by)
    check_taking(draft, "delegating")
    for other in order.after:
        if other == task_id:
            raise DelegationCycle(agent=task_id, way="it would wait for itself")
        if other not in draft.paged:
            find_task(draft, other)
    wanted = None
    if order.workflow is None and order.companion_id is not None:
        wanted = _companion(draft, order, order.companion_id, task_id)
    elif order.workflow is None and order.specialization is not None:
        _check_specialization(draft, order.specialization)
    return SessionTask(
        task_id=task_id,
        task_type=type_of(order),
        description=order.description,
        by=order.by,
        ordered=ordered,
        delegated_at=draft.now,
        deadline_at=draft.now + round(order.timeout_s * 1000),
        kind="companion" if order.workflow is None else "workflow",
        skills=tuple(order.skills),
        input=order.input,
        priority=cast(Priority, order.priority),
        wanted=wanted,
        specialization=order.specialization,
        after=tuple(order.after),
        request=order.request,
        pins=dict(order.pins) if order.pins else None,
        tier=order.tier,
        model=order.model,
        budget=dict(order.budget) if order.budget else None,
        context=dict(order.context) if order.context is not None else None,
        document=dict(order.workflow) if order.workflow is not None else None,
    )


def check_order(order: Order) -> None:
    """Raises BadValue, TooLarge."""
    if not order.description.strip():
        raise BadValue(what="The description", value="empty", wanted="a text", how="say the task")
    size = len(order.description.encode("utf-8", "surrogatepass"))
    if size > DESCRIPTION_LIMIT:
        raise TooLarge(what="The description", size=size, limit=DESCRIPTION_LIMIT)
    size = payload.encode(order.input).size
    if size > INPUT_LIMIT:
        raise TooLarge(what="The input", size=size, limit=INPUT_LIMIT)
    for what, name in (("model", order.model), ("request", order.request)):
        if name is not None and not 0 < len(name) <= _LONGEST_NAME:
            wanted = f"1 to {_LONGEST_NAME} characters"
            value = repr(name[:40])
            raise BadValue(what=what, value=value, wanted=wanted, how="leave it away")
    if order.priority not in PRIORITIES:
        wanted = "one of " + ", ".join(PRIORITIES)
        raise BadValue(what="priority", value=order.priority, wanted=wanted, how="say normal")
    if not 0 < order.timeout_s <= _LONGEST_S:
        wanted = f"a number of seconds from 1 to {_LONGEST_S}"
        raise BadValue(what="timeout_seconds", value=order.timeout_s, wanted=wanted, how="say 300")


def _sized(draft: Draft, task: SessionTask) -> SessionTask:
    """The task with its size. Raises TooLarge where the session has no room for it."""
    task = replace(task, size=payload.encode(task.to_json()).size)
    size = task.size + sum(one.size for one in draft.tasks.values())
    if size > ROOM:
        what = f"All of the open tasks of session {draft.session_id}"
        raise TooLarge(what=what, size=size, limit=ROOM)
    return task


def check_room(draft: Draft, more: int) -> None:
    """Raises TooMany."""
    there = len(draft.open_tasks())
    if there + more > OPEN_LIMIT:
        raise TooMany(
            session_id=draft.session_id,
            count=there,
            what="open tasks",
            limit=OPEN_LIMIT,
            how="wait for some to end, or cancel them",
        )


def _companion(draft: Draft, order: Order, companion_id: str, task_id: str) -> str:
    """The id of the companion that shall do it: it is there, and waits for nothing that this would
    be a part of. Raises SessionProblem."""
    companion = find_companion(draft, companion_id)
    check_circle(draft, order.by, companion)
    if companion.status == "dismissing":
        serving = [one for one in draft.companions.values() if one.status != "dismissing"]
        raise UnknownCompanion(
            companion_id=companion.companion_id,
            session_id=draft.session_id,
            nearest=": it is being dismissed",
            known=", ".join(one.companion_id for one in serving) or "none, create one",
        )
    busy_with = companion.task_id
    if order.refuse_busy and busy_with is not None and busy_with != task_id:
        idle = [one.companion_id for one in draft.companions.values() if one.status == "idle"]
        raise CompanionBusy(
            companion_id=companion.companion_id,
            task_id=busy_with,
            idle=", ".join(idle) or "all are busy",
        )
    return companion.companion_id


def _check_specialization(draft: Draft, specialization: str) -> None:
    """Raises NoSuchSpecialization."""
    known = sorted({one.specialization for one in draft.companions.values()})
    if specialization not in known:
        raise NoSuchSpecialization(
            session_id=draft.session_id,
            specialization=specialization,
            nearest=similar(specialization, known),
            known=", ".join(known) or "none, there are no companions",
        )
