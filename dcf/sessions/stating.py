"""The states of a session: active, paused, completing, then completed or abandoned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from control_plane import JSON, payload
from dcf.sessions.draft import Draft
from dcf.sessions.errors import NotOpen, TooLarge
from dcf.sessions.session import ANNOUNCEMENTS
from dcf.sessions.settling import ask_to_end
from dcf.sessions.staffing import dismiss

CONTEXT_LIMIT = 256 * 1024
"""Bytes of preferences and shared data, each."""
TEXT_LIMIT = 16 * 1024
"""Bytes of an objective or announcement."""


@dataclass(frozen=True, slots=True)
class ContextChange:
    """What of the context changes. Members of ``shared_data`` and ``preferences`` that are None go;
    others take the place of those there were."""

    objective: str | None = None
    announcement: str | None = None
    shared_data: Mapping[str, JSON] | None = None
    preferences: Mapping[str, JSON] | None = None


def change_context(draft: Draft, change: ContextChange, *, by: str, at: str) -> list[str]:
    """Change the context; what was changed. ``at`` is the time, as ISO 8601. Raises
    SessionProblem."""
    _check_open(draft, "changing its context")
    changed = []
    if change.objective is not None:
        draft.head = replace(draft.head, objective=_text("The objective", change.objective))
        changed.append("objective")
    if change.announcement is not None:
        said = {"timestamp": at, "message": _text("The announcement", change.announcement)}
        kept = (*draft.context.announcements, said)[-ANNOUNCEMENTS:]
        draft.context = replace(draft.context, announcements=kept)
        changed.append("announcements")
    if change.shared_data is not None:
        merged = _merged("shared data", draft.context.shared_data, change.shared_data)
        draft.context = replace(draft.context, shared_data=merged)
        changed.append("shared_data")
    if change.preferences is not None:
        merged = _merged("preferences", draft.context.preferences, change.preferences)
        draft.context = replace(draft.context, preferences=merged)
        changed.append("preferences")
    if changed:
        draft.tell("ContextUpdated", by=by, fields=list(changed))
    return changed


def pause(draft: Draft, *, by: str, reason: str | None = None) -> None:
    """Nothing is assigned any more; what is under way goes on. Raises NotOpen."""
    if draft.head.state == "paused":
        return
    _check_state(draft, "active", "pausing")
    draft.head = replace(draft.head, state="paused", reason=reason)
    draft.tell("SessionPaused", by=by, reason=reason)


def resume(draft: Draft, *, by: str) -> None:
    """Raises NotOpen."""
    if draft.head.state == "active":
        return
    _check_state(draft, "paused", "resuming")
    draft.head = replace(draft.head, state="active", reason=None)
    draft.tell("SessionResumed", by=by)


def begin_end(
    draft: Draft,
    ending: Literal["completed", "abandoned"],
    *,
    by: str,
    reason: str | None = None,
    cancel: bool = False,
) -> None:
    """Nothing new is taken; the tick ends the session when nothing is open any more. With
    ``cancel`` what is open is cancelled. Again: nothing new, but it may cancel now."""
    if draft.head.state in ("completed", "abandoned"):
        return
    if draft.head.state != "completing":
        draft.head = replace(draft.head, state="completing", ending=ending, reason=reason)
        draft.tell("SessionCompleting", by=by, reason=reason, ending=ending)
    if cancel:
        for task in draft.open_tasks():
            ask_to_end(draft, task, by=by, reason=reason or "the session ends")


def end_if_done(draft: Draft) -> bool:
    """Dismiss the companions and end the session, when it is completing and nothing is open."""
    if draft.head.state != "completing" or draft.open_tasks():
        return False
    for companion_id in list(draft.companions):
        dismiss(draft, companion_id, by="dcf", reason="the session ended")
    ending = draft.head.ending or "completed"
    draft.head = replace(draft.head, state=ending, ended_at=draft.now)
    draft.tell("SessionCompleted" if ending == "completed" else "SessionAbandoned")
    return True


def join(draft: Draft, agent_id: str) -> None:
    """Let another agent conduct the session too."""
    _check_open(draft, "joining it")
    if agent_id not in draft.head.conductors:
        draft.head = replace(draft.head, conductors=(*draft.head.conductors, agent_id))
        draft.tell("ConductorJoined", agent_id=agent_id)


def _check_open(draft: Draft, what: str) -> None:
    if draft.head.state in ("completed", "abandoned"):
        raise NotOpen(
            session_id=draft.session_id,
            state=draft.head.state,
            what=what,
            how="start a new session",
        )


def _check_state(draft: Draft, wanted: str, what: str) -> None:
    if draft.head.state != wanted:
        how = f"only a session that is {wanted} can"
        raise NotOpen(session_id=draft.session_id, state=draft.head.state, what=what, how=how)


def _text(what: str, given: str) -> str:
    size = len(given.encode("utf-8", "surrogatepass"))
    if size > TEXT_LIMIT:
        raise TooLarge(what=what, size=size, limit=TEXT_LIMIT)
    return given


def _merged(what: str, old: Mapping[str, JSON], new: Mapping[str, JSON]) -> dict[str, JSON]:
    merged = {key: value for key, value in {**old, **new}.items() if value is not None}
    size = payload.encode(merged).size
    if size > CONTEXT_LIMIT:
        raise TooLarge(what=f"The {what}", size=size, limit=CONTEXT_LIMIT)
    return merged
