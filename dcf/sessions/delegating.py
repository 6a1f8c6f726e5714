"""Delegating: an order becomes a task that waits. Nothing is given to anybody here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from control_plane import JSON, payload
from dcf.sessions.assigning import is_suitable
from dcf.sessions.companion import PREFIX, Companion
from dcf.sessions.draft import Draft
from dcf.sessions.errors import (
    BadValue,
    CompanionBusy,
    DelegationCycle,
    NoConductor,
    NoSuchSpecialization,
    NotOpen,
    TaskExists,
    TaskOver,
    TooLarge,
    TooMany,
    UnknownCompanion,
    UnknownTask,
)
from dcf.sessions.order import Broadcast, Order, type_of
from dcf.sessions.seat import agent_of
from dcf.sessions.similar import similar
from dcf.sessions.task import PRIORITIES, Priority, SessionTask

OPEN_LIMIT = 500
"""Tasks of one session that wait or are worked on."""
DESCRIPTION_LIMIT = 16 * 1024
INPUT_LIMIT = 256 * 1024
"""Bytes of a task's description and input. Larger inputs are passed by reference."""
_LONGEST_S = 7 * 24 * 3600


def delegate(draft: Draft, order: Order, task_id: str) -> SessionTask:
    """Write the task. The same ``task_id`` again is the same task. Raises SessionProblem."""
    known = draft.tasks.get(task_id)
    if order.companion_id is not None:
        found = find_companion(draft, order.companion_id)
        order = replace(order, companion_id=found.companion_id)
    wanted = _task(draft, order, task_id)
    if known is not None:
        if _told(known) != _told(wanted):
            raise TaskExists(task_id=task_id)
        return known
    _check_room(draft, 1)
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


def broadcast(draft: Draft, asked: Broadcast, task_id: str) -> SessionTask:
    """Write a task for each of several companions, and one that stands for them, which has
    ``task_id``; its children are called ``{task_id}_1`` and so on. For one companion it is that
    one's task. Raises SessionProblem."""
    if task_id in draft.tasks:
        return draft.tasks[task_id]
    if not 1 <= asked.most <= OPEN_LIMIT:
        raise BadValue(what="max_companions", value=asked.most, wanted="1 or more", how="say 1")
    chosen = _those_asked(draft, asked)
    if asked.mode == "first_idle" and len(chosen) <= 1:
        whom = chosen[0].companion_id if chosen else None
        return delegate(draft, replace(asked.order, companion_id=whom), task_id)
    _check_room(draft, len(chosen) + 1)
    need = _need(asked, len(chosen))
    children = tuple(f"{task_id}_{number + 1}" for number in range(len(chosen)))
    group = replace(_task(draft, asked.order, task_id), kind="group", children=children, need=need)
    for child, companion in zip(children, chosen, strict=True):
        delegate(draft, replace(asked.order, companion_id=companion.companion_id), child)
        draft.put(replace(draft.tasks[child], group=task_id))
    draft.tell("TaskBroadcast", task_id=task_id, children=list(children), need=need)
    return draft.put(group)


def cancel(draft: Draft, task_id: str, *, by: str, reason: str | None = None) -> SessionTask:
    """Let a task be ended, with those that it stands for. Raises UnknownTask, TaskOver."""
    task = find_open_task(draft, task_id)
    for one in (task, *(draft.tasks[child] for child in task.children)):
        if one.is_open and one.cancelled_by is None:
            draft.put(replace(one, cancelled_by=by, reason=reason))
            draft.tell("TaskCancelled", task_id=one.task_id, by=by, reason=reason)
    return task


def check_conductor(draft: Draft, agent_id: str) -> None:
    """Raises NoConductor unless ``agent_id`` conducts the session."""
    if agent_id not in draft.head.conductors:
        raise NoConductor(
            conductor_id=agent_id,
            session_id=draft.session_id,
            conductors=" or ".join(draft.head.conductors),
        )


def check_taking(draft: Draft, what: str) -> None:
    """Raises NotOpen unless the session takes something new."""
    if draft.head.state not in ("active", "paused"):
        raise NotOpen(
            session_id=draft.session_id,
            state=draft.head.state,
            what=what,
            how="start a new session",
        )


def find_companion(draft: Draft, companion_id: str) -> Companion:
    """The companion of this id, which may be said without what all of them begin with. Raises
    UnknownCompanion, which says those there are."""
    found = draft.companions.get(companion_id) or draft.companions.get(PREFIX + companion_id)
    if found is not None:
        return found
    raise UnknownCompanion(
        companion_id=companion_id,
        session_id=draft.session_id,
        nearest=similar(companion_id, draft.companions),
        known=", ".join(draft.companions) or "none, create one",
    )


def find_task(draft: Draft, task_id: str) -> SessionTask:
    """Raises UnknownTask."""
    found = draft.tasks.get(task_id)
    if found is not None:
        return found
    nearest = similar(task_id, draft.tasks)
    raise UnknownTask(task_id=task_id, session_id=draft.session_id, nearest=nearest)


def find_open_task(draft: Draft, task_id: str) -> SessionTask:
    """Raises UnknownTask, TaskOver."""
    task = find_task(draft, task_id)
    if not task.is_open:
        raise TaskOver(task_id=task_id, status=task.status)
    return task


def _task(draft: Draft, order: Order, task_id: str) -> SessionTask:
    """The task that ``order`` asks for. Raises SessionProblem."""
    check_conductor(draft, order.by)
    check_taking(draft, "delegating")
    _check_order(order)
    for other in order.after:
        find_task(draft, other)
        if other == task_id:
            raise DelegationCycle(agent=task_id, way="it would wait for itself")
    kind = "workflow" if order.workflow is not None else "companion"
    if kind == "companion":
        _check_companion(draft, order, task_id)
    return SessionTask(
        task_id=task_id,
        task_type=type_of(order),
        description=order.description,
        by=order.by,
        delegated_at=draft.now,
        deadline_at=draft.now + round(order.timeout_s * 1000),
        kind="workflow" if kind == "workflow" else "companion",
        skills=tuple(order.skills),
        input=order.input,
        priority=cast(Priority, order.priority),
        wanted=order.companion_id,
        specialization=order.specialization,
        after=tuple(order.after),
        request=order.request,
        pins=dict(order.pins) if order.pins else None,
        tier=order.tier,
        model=order.model,
        budget=dict(order.budget) if order.budget else None,
        document=dict(order.workflow) if order.workflow is not None else None,
    )


def _check_companion(draft: Draft, order: Order, task_id: str) -> None:
    """Whoever shall do it is there, and is not who orders it."""
    if order.companion_id is not None:
        companion = find_companion(draft, order.companion_id)
        if order.by in (
            companion.companion_id,
            agent_of(draft.session_id, companion.companion_id),
        ):
            raise DelegationCycle(agent=order.by, way=f"{companion.companion_id} is itself")
        if companion.status == "dismissing":
            raise UnknownCompanion(
                companion_id=companion.companion_id,
                session_id=draft.session_id,
                nearest=": it is being dismissed",
                known=", ".join(_serving(draft.companions.values())) or "none, create one",
            )
        busy_with = companion.task_id
        if order.refuse_busy and busy_with is not None and busy_with != task_id:
            raise CompanionBusy(
                companion_id=companion.companion_id,
                task_id=busy_with,
                idle=", ".join(
                    one.companion_id for one in draft.companions.values() if one.status == "idle"
                )
                or "all are busy",
            )
    elif order.specialization is not None:
        known = sorted({one.specialization for one in draft.companions.values()})
        if order.specialization not in known:
            raise NoSuchSpecialization(
                session_id=draft.session_id,
                specialization=order.specialization,
                nearest=similar(order.specialization, known),
                known=", ".join(known) or "none, there are no companions",
            )


def _check_order(order: Order) -> None:
    if not order.description.strip():
        raise BadValue(what="The description", value="empty", wanted="a text", how="say the task")
    size = len(order.description.encode("utf-8", "surrogatepass"))
    if size > DESCRIPTION_LIMIT:
        raise TooLarge(what="The description", size=size, limit=DESCRIPTION_LIMIT)
    size = payload.encode(order.input).size
    if size > INPUT_LIMIT:
        raise TooLarge(what="The input", size=size, limit=INPUT_LIMIT)
    if order.priority not in PRIORITIES:
        wanted = "one of " + ", ".join(PRIORITIES)
        raise BadValue(what="priority", value=order.priority, wanted=wanted, how="say normal")
    if not 0 < order.timeout_s <= _LONGEST_S:
        wanted = f"a number of seconds from 1 to {_LONGEST_S}"
        raise BadValue(what="timeout_seconds", value=order.timeout_s, wanted=wanted, how="say 300")


def _those_asked(draft: Draft, asked: Broadcast) -> list[Companion]:
    order = asked.order
    serving = [
        one for one in draft.companions.values() if one.status not in ("dismissing", "error")
    ]
    fitting = [one for one in serving if is_suitable(one, None, order.specialization)]
    if not fitting and asked.mode != "first_idle":
        known = sorted({one.specialization for one in serving})
        raise NoSuchSpecialization(
            session_id=draft.session_id,
            specialization=order.specialization or "anything",
            nearest=similar(order.specialization or "", known),
            known=", ".join(known) or "none, there are no companions",
        )
    if asked.mode == "first_idle":
        fitting = [one for one in fitting if one.status == "idle"]
    fitting.sort(key=lambda one: (one.status != "idle", one.idle_since or 0, one.companion_id))
    return fitting[: asked.most] if asked.mode != "quorum" else fitting[: max(asked.most, 1)]


def _need(asked: Broadcast, there: int) -> int:
    if asked.mode == "quorum":
        need = asked.need if asked.need is not None else there // 2 + 1
        if not 1 <= need <= there:
            raise BadValue(
                what="quorum", value=need, wanted=f"1 to {there}, the companions there are",
                how="ask fewer, or create companions",
            )  # fmt: skip
        return need
    return there


def _check_room(draft: Draft, more: int) -> None:
    there = len(draft.open_tasks())
    if there + more > OPEN_LIMIT:
        raise TooMany(
            session_id=draft.session_id,
            count=there,
            what="open tasks",
            limit=OPEN_LIMIT,
            how="wait for some to end, or cancel them",
        )


def _serving(companions: Iterable[Companion]) -> list[str]:
    return [one.companion_id for one in companions if one.status != "dismissing"]


def _told(task: SessionTask) -> tuple[JSON, ...]:
    """What makes an order this one and no other."""
    return (task.description, task.by, task.input, task.skills, task.kind, task.wanted)
