"""``dcf session hire`` and ``dismiss``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.screen import Screen
from dcf.cli.session.opening import open_desk
from dcf.cli.settings import Settings
from dcf.sessions import NewCompanion
from dcf.sessions.companions import new_token


async def hire(
    session_id: str,
    specialization: str,
    skills: Sequence[str],
    name: str | None,
    tier: int | None,
    external: bool,
    settings: Settings,
    screen: Screen,
) -> Answer:
    """Make a companion."""
    async with open_desk(settings, screen) as desk:
        by = await desk.conductor(session_id)
        new = NewCompanion(
            by=by,
            specialization=specialization,
            skills=skills,
            name=name,
            tier=tier,
            external=external,
        )
        made = await desk.sessions.employ(session_id, new)
        token = None
        if external:
            token = await new_token(desk.sessions, session_id, made.companion_id)
    fields: dict[str, Any] = {
        "session_id": session_id,
        "companion_id": made.companion_id,
        "specialization": made.specialization,
        "skills": list(made.skills),
    }
    if token is None:
        who = "a companion process serves it"
    else:
        fields["companion_token"] = token
        who = f"the MCP client that shows its companion_token serves it; told once: {token}"
    return Answer(fields, [f"{made.companion_id}: {made.specialization}; {who}"])


async def dismiss(
    session_id: str, companion_id: str, reason: str | None, settings: Settings, screen: Screen
) -> Answer:
    """Take a companion out of the session."""
    async with open_desk(settings, screen) as desk:
        by = await desk.conductor(session_id)
        held = (await desk.get(session_id)).companions.get(companion_id)
        await desk.sessions.dismiss(session_id, companion_id, by=by, reason=reason)
    given_on = held.task_id if held is not None else None
    fields = {"session_id": session_id, "companion_id": companion_id, "task_id": given_on}
    rest = f"; {given_on} goes to another that is suitable" if given_on else ""
    return Answer(fields, [f"{companion_id} is dismissed{rest}"])
