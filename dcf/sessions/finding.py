"""Finding what is meant in a session, and whether it may be done at all."""

from __future__ import annotations

from dcf.sessions.companion import PREFIX, Companion
from dcf.sessions.draft import Draft
from dcf.sessions.errors import NoConductor, NotOpen, TaskOver, UnknownCompanion, UnknownTask
from dcf.sessions.session import Session
from dcf.sessions.similar import similar
from dcf.sessions.task import SessionTask


def check_conductor(there: Draft | Session, agent_id: str) -> None:
    """Raises NoConductor unless ``agent_id`` conducts the session."""
    if agent_id not in there.head.conductors:
        raise NoConductor(
            conductor_id=agent_id,
            session_id=there.session_id,
            conductors=" or ".join(there.head.conductors),
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
    raise unknown_companion(draft, companion_id)


def unknown_companion(there: Draft | Session, companion_id: str) -> UnknownCompanion:
    """What says that there is none of this id, and those there are."""
    return UnknownCompanion(
        companion_id=companion_id,
        session_id=there.session_id,
        nearest=similar(companion_id, there.companions),
        known=", ".join(there.companions) or "none, create one",
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
