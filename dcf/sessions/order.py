"""What a conductor orders."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from control_plane import JSON, payload
from dcf.sessions.companion import PREFIX

DEADLINE_S = 300
"""How long a task may take, all told, unless its order says otherwise."""

BroadcastMode = Literal["first_idle", "all", "quorum"]

_NOT_IN_A_TYPE = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Order:
    """One task to be done. ``by`` is who orders it. ``companion_id`` must do it, or any that has
    the ``specialization``, or any at all. ``task_id`` makes saying it twice one task. ``after`` are
    tasks that must be done before: where ``dcf://run/{id}`` of one of them is a value in ``input``,
    its result takes that place. ``timeout_s`` counts from now, waiting included. With
    ``refuse_busy`` it is not made to wait for its companion. ``workflow`` is a document to be run
    by workers instead. ``request`` names what the user asked for, where the task serves it.
    ``context`` is what its companion is told of the project, as an AgentBinding says it.
    ``pins`` are the digests of its skills, by manifest id."""

    description: str
    by: str
    companion_id: str | None = None
    specialization: str | None = None
    skills: Sequence[str] = ()
    input: JSON = None
    priority: str = "normal"
    timeout_s: float = DEADLINE_S
    after: Sequence[str] = ()
    task_type: str | None = None
    tier: int | None = None
    model: str | None = None
    budget: Mapping[str, JSON] | None = None
    context: Mapping[str, JSON] | None = None
    task_id: str | None = None
    refuse_busy: bool = False
    workflow: Mapping[str, Any] | None = None
    request: str | None = None
    pins: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Broadcast:
    """``order`` for several: the ``most`` first idle ones (``first_idle``), ``all`` that have the
    specialization, at most ``most``, or so many that ``need`` of them are enough (``quorum``;
    default: more than half)."""

    order: Order
    mode: BroadcastMode = "first_idle"
    most: int = 1
    need: int | None = None


def digest_of(order: Order) -> str:
    """By which an order is known again: what is to be done, by whom, with what, after what. Not by
    how soon, nor by how much thinking. A companion may be said without what all begin with."""
    whom = order.companion_id and PREFIX + order.companion_id.removeprefix(PREFIX)
    parts = [
        order.description,
        order.by,
        whom,
        order.specialization,
        list(order.skills),
        order.input,
        list(order.after),
        order.workflow and dict(order.workflow),
    ]
    return payload.digest(json.dumps(parts, sort_keys=True))


def digest_of_broadcast(asked: Broadcast) -> str:
    """The same of a broadcast, which is also known by how many it is for."""
    return payload.digest(f"{digest_of(asked.order)}/{asked.mode}/{asked.most}/{asked.need}")


def type_of(order: Order) -> str:
    """What statistics call a task: as ordered, else by its first skill, else by who does it."""
    name = order.task_type or _skill_name(order.skills) or order.specialization or "task"
    return _NOT_IN_A_TYPE.sub("-", name).strip("-")[:64] or "task"


def _skill_name(skills: Sequence[str]) -> str | None:
    """What is left of the first skill's reference, or manifest id, without kind and version."""
    if not skills:
        return None
    return skills[0].removeprefix("skill://").removeprefix("skill.").partition("@")[0]
