"""Circles: a companion that conducts waits for what it ordered, and must not be what that waits
for."""

from __future__ import annotations

from dcf.sessions.companion import Companion
from dcf.sessions.draft import Draft
from dcf.sessions.errors import DelegationCycle
from dcf.sessions.seat import agent_of
from dcf.sessions.session import Session


def those_who_wait(there: Draft | Session, agent_id: str) -> dict[str, str | None]:
    """The companion that ``agent_id`` is (with None), and those that wait for what it does, each
    with the task that it waits for; nobody, when ``agent_id`` is none."""
    found: dict[str, str | None] = {}
    awaited = None
    companion = _companion(there, agent_id)
    while companion is not None and companion.companion_id not in found:
        found[companion.companion_id] = awaited
        task = there.tasks.get(companion.task_id or "")
        if task is None:
            break
        awaited = task.task_id
        companion = _companion(there, task.by)
    return found


def check_circle(there: Draft | Session, by: str, companion: Companion) -> None:
    """Raises DelegationCycle when ``by`` is the companion, or does what the companion waits for."""
    waiting = those_who_wait(there, by)
    if companion.companion_id not in waiting:
        return
    awaited = waiting[companion.companion_id]
    why = "is itself" if awaited is None else f"waits for {awaited}, and that for {by}"
    raise DelegationCycle(agent=by, way=f"{companion.companion_id} {why}")


def _companion(there: Draft | Session, agent_id: str) -> Companion | None:
    """The companion of this name, as the session says it or as others do."""
    inside = agent_id.removeprefix(agent_of(there.session_id, ""))
    return there.companions.get(inside)
