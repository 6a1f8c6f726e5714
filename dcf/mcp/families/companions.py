"""Companions of a session: made, listed and dismissed."""

from __future__ import annotations

from typing import Annotated

from dcf.mcp.companion_answers import CompanionList, CompanionShown
from dcf.mcp.help import NoEffect, Obvious
from dcf.mcp.kinds import (
    By,
    CompanionId,
    ConductorId,
    OtherwiseKnown,
    Reason,
    SessionId,
)
from dcf.mcp.outside_companions import forget
from dcf.mcp.platform import Platform
from dcf.mcp.session_access import conductor_of, session_of_companion
from dcf.mcp.session_blocks import labels_of
from dcf.mcp.session_views import companion_row, tags_of
from dcf.mcp.tool import tool
from dcf.sessions import (
    GENERALIST,
    Companion,
    CompanionExists,
    NewCompanion,
    Session,
)
from dcf.sessions.companions import new_token

_SHOWN = "its companion_token was shown before, and somebody serves it with that"


@tool("conductor", strict=True)
async def create_companion(
    platform: Platform,
    session_id: SessionId,
    conductor_id: ConductorId,
    specialization: Annotated[str, Obvious("What it is best at.")] = GENERALIST,
    shared_block_ids_json: Annotated[list[str] | None, "Labels of your blocks."] = None,
    initial_skills_json: Annotated[
        list[str] | None, Obvious("Skills whose tasks come to it first.")
    ] = None,
    companion_name: Annotated[str | None, Obvious("Its name.")] = None,
    persona_override: Annotated[str | None, Obvious("Text of its persona.")] = None,
    model: Annotated[str | None, Obvious("What it thinks with.")] = None,
    model_tier: Annotated[int | None, "At least, 0 to 3."] = None,
    external: Annotated[bool, "A client serves it."] = False,
) -> CompanionShown:
    """Make a companion."""
    labels, warnings = await labels_of(platform, conductor_id, shared_block_ids_json or [])
    new = NewCompanion(
        conductor_id,
        specialization=specialization,
        skills=tuple(initial_skills_json or ()),
        tier=model_tier,
        model=model,
        persona=persona_override,
        shared_blocks=tuple(labels),
        name=companion_name,
        external=external,
    )
    status = "created"
    try:
        companion = await platform.sessions.employ(session_id, new)
    except CompanionExists as exists:
        there = await platform.sessions.get(session_id)
        found = there.companions.get(str(exists.fields["companion_id"]))
        if found is None or not _is_that_of(new, found):
            raise
        # The answer to the first call was lost.
        status, companion = "exists", found
    session = await platform.sessions.get(session_id)
    answer = _shown(platform, status, session, companion)
    answer["shared_blocks_attached"] = list(companion.shared_blocks)
    if companion.external:
        token = await new_token(platform.sessions, session_id, companion.companion_id)
        answer["companion_token"] = token
        warnings += [] if token else [_SHOWN]
    if warnings:
        answer["warnings"] = warnings
    return answer


@tool("conductor", strict=True)
async def dismiss_companion(
    platform: Platform,
    companion_id: CompanionId,
    unload_skills: Annotated[bool, NoEffect("Always so.")] = True,
    detach_shared_blocks: Annotated[bool, NoEffect("Always so.")] = True,
    session_id: OtherwiseKnown = None,
    reason: Reason = None,
    conductor_id: By = None,
) -> CompanionShown:
    """Let a companion go; its task goes to another."""
    session_id = await session_of_companion(platform, companion_id, session_id)
    by = await conductor_of(platform, session_id, conductor_id)
    before = await platform.sessions.get(session_id)
    gone = await platform.sessions.dismiss(session_id, companion_id, by=by, reason=reason)
    answer = _shown(platform, "dismissed", before, gone)
    answer["skills_unloaded"] = await forget(platform, session_id, [gone])
    answer["blocks_detached"] = list(gone.shared_blocks)
    return answer


@tool("conductor", "strategist")
async def list_session_companions(
    platform: Platform,
    session_id: SessionId,
    include_status: Annotated[bool, NoEffect("Always so.")] = True,
    specialization_filter: Annotated[str | None, Obvious("Only those.")] = None,
) -> CompanionList:
    """List companions, and what each does."""
    session = await platform.sessions.get(session_id)
    rows = [
        companion_row(session, one, platform.config.env)
        for one in session.companions.values()
        if specialization_filter in (None, "", one.specialization)
    ]
    return {"session_id": session_id, "companions": rows, "count": len(rows)}


@tool("conductor", "companion", strict=True)
async def update_companion_status(
    platform: Platform,
    companion_id: CompanionId,
    status: Annotated[str | None, "idle, or error: it gets no tasks."] = None,
    specialization: Annotated[str | None, Obvious("What it is best at now.")] = None,
    current_task_id: Annotated[str | None, NoEffect("The session knows.")] = None,
    session_id: OtherwiseKnown = None,
    reason: Reason = None,
) -> CompanionShown:
    """Say whether a companion can work."""
    session_id = await session_of_companion(platform, companion_id, session_id)
    before = (await platform.sessions.get(session_id)).companions.get(companion_id)
    said = {"status": status, "specialization": specialization, "reason": reason}
    companion = await platform.sessions.describe(session_id, companion_id, **said)
    session = await platform.sessions.get(session_id)
    answer = _shown(platform, "updated", session, companion)
    answer["updated_tags"] = answer["tags"]
    answer["previous_tags"] = [] if before is None else tags_of(session_id, before)
    return answer


def _is_that_of(new: NewCompanion, companion: Companion) -> bool:
    """Whether the companion was made by this very call."""
    asked = (new.by, " ".join(new.specialization.split()), new.external, new.model, new.tier)
    made = (
        companion.created_by,
        companion.specialization,
        companion.external,
        companion.model,
        companion.tier,
    )
    return asked == made


def _shown(
    platform: Platform, status: str, session: Session, companion: Companion
) -> CompanionShown:
    row = companion_row(session, companion, platform.config.env)
    return {
        "status": status,
        "session_id": session.session_id,
        "companion_id": companion.companion_id,
        "companion_name": companion.name,
        "specialization": companion.specialization,
        "companion_status": companion.status,
        "tags": row["tags"],
        "skills_loaded": row["initial_skills"],
        "model_config": row["model_config"],
    }


FAMILY = (
    create_companion,
    dismiss_companion,
    list_session_companions,
    update_companion_status,
)
