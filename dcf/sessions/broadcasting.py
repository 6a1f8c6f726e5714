"""Broadcasting: one order becomes a task for each of several companions."""

from __future__ import annotations

from dataclasses import replace

from dcf.sessions.assigning import is_suitable
from dcf.sessions.circles import those_who_wait
from dcf.sessions.companion import Companion
from dcf.sessions.delegating import (
    OPEN_LIMIT,
    check_order,
    check_room,
    delegate,
    ordered_before,
    task_of,
)
from dcf.sessions.draft import Draft
from dcf.sessions.errors import BadValue, NoSuchSpecialization, TaskExists
from dcf.sessions.order import Broadcast, digest_of_broadcast
from dcf.sessions.similar import similar
from dcf.sessions.task import SessionTask


def broadcast(draft: Draft, asked: Broadcast, task_id: str) -> SessionTask:
    """Write a task for each of several companions, and one that stands for them, which has
    ``task_id``; its children are called ``{task_id}_1`` and so on. For one companion it is that
    one's task. The same again is the same task. Raises SessionProblem."""
    check_order(asked.order)
    ordered = digest_of_broadcast(asked)
    known = ordered_before(draft, task_id, ordered)
    if known is not None:
        return known
    if not 1 <= asked.most <= OPEN_LIMIT:
        raise BadValue(what="max_companions", value=asked.most, wanted="1 or more", how="say 1")
    chosen = _those_asked(draft, asked)
    if asked.mode == "first_idle" and len(chosen) <= 1:
        whom = chosen[0].companion_id if chosen else None
        order = replace(asked.order, companion_id=whom)
        return delegate(draft, order, task_id, ordered=ordered)
    check_room(draft, len(chosen) + 1)
    need = _need(asked, len(chosen))
    children = ids_of(task_id, len(chosen))
    group = task_of(draft, asked.order, task_id, ordered)
    group = replace(group, kind="group", children=children, need=need)
    for child, companion in zip(children, chosen, strict=True):
        if draft.find(child) is not None:
            raise TaskExists(task_id=child)
        delegate(draft, replace(asked.order, companion_id=companion.companion_id), child)
        draft.put(replace(draft.tasks[child], group=task_id))
    draft.tell("TaskBroadcast", task_id=task_id, children=list(children), need=need)
    return draft.put(group)


def ids_of(task_id: str, count: int) -> tuple[str, ...]:
    """What the children of a broadcast are called."""
    return tuple(f"{task_id}_{number + 1}" for number in range(count))


def _those_asked(draft: Draft, asked: Broadcast) -> list[Companion]:
    order = asked.order
    waiting = those_who_wait(draft, order.by)
    serving = [
        one
        for one in draft.companions.values()
        if one.status not in ("dismissing", "error") and one.companion_id not in waiting
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
