"""Sessions: beginning, steering and ending them, and talking to their conductor."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from control_plane import SessionExists
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import Refused
from dcf.mcp.error_code import code_of
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import By, ConductorId, Reason, SessionId
from dcf.mcp.outside_companions import forget
from dcf.mcp.platform import Platform
from dcf.mcp.session_access import conductor_of
from dcf.mcp.session_answers import Archived, SessionEnded, SessionList, SessionShown, Talked
from dcf.mcp.session_blocks import label_of, show, take_block
from dcf.mcp.session_talk import talk
from dcf.mcp.session_views import head_view, session_view
from dcf.mcp.tool import tool
from dcf.mcp.wisdom import wisdom_of
from dcf.problem import ProblemError
from dcf.sessions import ContextChange, Session, SessionState, newest_sessions
from dcf.sessions.archive import write_archive

_WAIT_S = 600
_Shared = Annotated[dict[str, Any] | None, "Merged; null takes a member away."]
_Preferences = Annotated[dict[str, Any] | None, Obvious("Merged in the same way.")]
_State = Annotated[SessionState | None, "completed: once no task is open."]


@tool("conductor", strict=True)
async def create_session_context(
    platform: Platform,
    session_id: SessionId,
    conductor_id: ConductorId,
    objective: Annotated[str | None, Obvious("What it is for.")] = None,
    initial_context_json: Annotated[dict[str, Any] | None, "Shared data; and preferences."] = None,
) -> SessionShown:
    """Begin a session."""
    shared = dict(initial_context_json or {})
    preferences = shared.pop("preferences", None)
    if preferences is not None and not isinstance(preferences, dict):
        raise Refused("bad_arguments", "initial_context_json: preferences is no object")
    nested = shared.pop("shared_data", None)
    shared |= nested if isinstance(nested, dict) else {}
    status, said = "created", objective or ""
    try:
        session = await platform.sessions.create(
            session_id, conductor_id, said, shared_data=shared, preferences=preferences
        )
    except SessionExists:
        session = await platform.sessions.get(session_id)
        if (session.head.conductors[0], session.head.objective) != (conductor_id, said):
            raise
        # The answer to the first call was lost.
        status = "exists"
    return await _changed(platform, status, session, conductor_id)


@tool("conductor", strict=True)
async def update_session_context(
    platform: Platform,
    session_id: SessionId,
    block_id: Annotated[str | None, NoEffect("Not needed: the id says which.")] = None,
    state: _State = None,
    objective: Annotated[str | None, Obvious("What it is for now.")] = None,
    add_active_task: Annotated[str | None, NoEffect("The session knows its tasks.")] = None,
    complete_task: Annotated[str | None, NoEffect("The session knows its tasks.")] = None,
    companion_count: Annotated[int | None, NoEffect("The session counts them.")] = None,
    announcement: Annotated[str | None, Obvious("Said to all in it; the last 20 are kept.")] = None,
    shared_data_json: _Shared = None,
    preferences_json: _Preferences = None,
    reason: Reason = None,
    conductor_id: By = None,
) -> SessionShown:
    """Change what all in a session share, or its state."""
    by = await conductor_of(platform, session_id, conductor_id)
    change = ContextChange(objective, announcement, shared_data_json, preferences_json)
    updated, session = await platform.sessions.change_context(session_id, change, by=by)
    if state is not None and state != session.state:
        try:
            session = await _moved(platform, session, state, by, reason)
        except ProblemError as refused:
            # What was written before stands; the caller has to know.
            raise Refused(
                code_of(refused.code, ()), str(refused), hint=refused.hint,
                session_id=session_id, updated_fields=updated, state=session.state,
            ) from refused  # fmt: skip
        updated = [*updated, "state"]
        if session.is_over:
            await forget(platform, session_id, session.former.values())
    answer = await _changed(platform, "updated", session, by)
    ignored = {
        "add_active_task": add_active_task,
        "complete_task": complete_task,
        "companion_count": companion_count,
    }
    answer["updated_fields"] = updated
    answer["warnings"] = [
        *answer.get("warnings", ()),
        *(
            f"{name} is ignored: the session knows its tasks and companions"
            for name, given in ignored.items()
            if given is not None
        ),
    ]
    return answer


@tool("conductor", "companion", "strategist")
async def read_session(platform: Platform, session_id: SessionId) -> SessionShown:
    """Read what all in a session share, its state and counts."""
    return session_view(await platform.sessions.get(session_id))  # type: ignore[return-value]


@tool("conductor", "strategist")
async def list_sessions(
    platform: Platform,
    state: Annotated[SessionState | None, Obvious("Only those.")] = None,
    limit: Annotated[int, Obvious("At most so many."), Field(ge=1, le=200)] = 50,
    after: Annotated[int | None, Obvious("next_after of the page before.")] = None,
) -> SessionList:
    """List sessions, the newest first."""
    states = () if state is None else (state,)
    found = await newest_sessions(platform.sessions, limit, before=after, states=states)
    rows = [head_view(row.session_id, row.head) for row in found.rows]
    return {"sessions": rows, "next_after": found.before}


@tool("conductor", strict=True)
async def finalize_session(
    platform: Platform,
    session_id: SessionId,
    session_context_block_id: Annotated[
        str | None, NoEffect("Not needed: the id says which."), Alias("block_id")
    ] = None,
    delete_companions: Annotated[bool, NoEffect("Always so.")] = True,
    delete_session_block: Annotated[bool, Obvious("Take the conductor's block away.")] = False,
    preserve_wisdom: Annotated[bool, Obvious("Say what each companion did.")] = True,
    cancel: Annotated[bool, "Cancel what is open; else it is waited for."] = False,
    reason: Reason = None,
    conductor_id: By = None,
) -> SessionEnded:
    """End a session; its companions go when no task is open."""
    by = await conductor_of(platform, session_id, conductor_id)
    session = await platform.sessions.end(session_id, by=by, cancel=cancel, reason=reason)
    await forget(platform, session_id, session.former.values())
    answer: SessionEnded = {
        "status": "finalized" if session.is_over else "completing",
        "session_id": session_id,
        "state": session.state,
        "open_tasks": [task.task_id for task in session.open_tasks],
        "companions_dismissed": list(session.former),
        "wisdom_preserved": await wisdom_of(platform.sessions, session) if preserve_wisdom else [],
        "session_block_deleted": delete_session_block
        and await take_block(platform, session_id, by),
    }
    if not delete_companions:
        answer["warnings"] = ["delete_companions is ignored: companions belong to their session"]
    return answer


@tool("conductor", strict=True)
async def archive_session(
    platform: Platform, session_id: SessionId, conductor_id: By = None
) -> Archived:
    """Write a session with results and transcript to a folder."""
    await conductor_of(platform, session_id, conductor_id)
    config = platform.config
    folder = config.archives or config.runs.parent / "sessions"
    try:
        place = await write_archive(platform.sessions, session_id, folder)
    except BlockingIOError:
        raise Refused("archive_busy", "somebody else is archiving it", hint="try again") from None
    files = sorted(str(one.relative_to(place)) for one in place.rglob("*") if one.is_file())
    return {"status": "archived", "session_id": session_id, "path": str(place), "files": files}


@tool("conductor", limit_s=_WAIT_S + 60, strict=True)
async def send_session_message(
    platform: Platform,
    session_id: SessionId,
    message: Annotated[str, Obvious("What the person says."), Alias("text")],
    request_id: Annotated[
        str | None, Obvious("Yours: the same again is answered, not done again.")
    ] = None,
    wait_s: Annotated[float, Obvious("Wait so long for the results."), Field(ge=0, le=_WAIT_S)] = 0,
    conductor_id: By = None,
) -> Talked:
    """Talk to the conductor, who answers at once; an empty message asks what came since."""
    await conductor_of(platform, session_id, conductor_id)
    return await talk(platform, session_id, message, request_id=request_id, wait_s=wait_s)  # type: ignore[return-value]


async def _moved(
    platform: Platform, session: Session, state: SessionState, by: str, reason: str | None
) -> Session:
    sessions, id_ = platform.sessions, session.session_id
    if state == "active":
        return await sessions.resume(id_, by=by)
    if state == "paused":
        return await sessions.pause(id_, by=by, reason=reason)
    abandon = state == "abandoned"
    return await sessions.end(id_, by=by, abandon=abandon, cancel=abandon, reason=reason)


async def _changed(
    platform: Platform, status: str, session: Session, conductor_id: str
) -> SessionShown:
    block_id, why = await show(platform, session.session_id, conductor_id)
    answer: SessionShown = {
        "status": status,
        "session_id": session.session_id,
        "block_id": block_id,
        "block_label": label_of(session.session_id),
        "state": session.state,
        "revision": session.revision,
    }
    if why:
        answer["warnings"] = [why]
    return answer


FAMILY = (
    create_session_context,
    update_session_context,
    read_session,
    list_sessions,
    finalize_session,
    archive_session,
    send_session_message,
)
