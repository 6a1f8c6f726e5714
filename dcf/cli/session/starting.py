"""``dcf session start``."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.screen import Screen
from dcf.cli.session.opening import open_desk
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.sessions import NewCompanion


@dataclass(frozen=True, slots=True)
class Start:
    """The command line of ``dcf session start``; ``shared`` and ``preferred`` are ``name=value``,
    ``companions`` a number or specializations."""

    session_id: str | None
    objective: str
    conductor_id: str
    companions: Sequence[str]
    shared: Sequence[str]
    preferred: Sequence[str]


async def start_session(order: Start, settings: Settings, screen: Screen) -> Answer:
    """Begin a session with its companions."""
    session_id = order.session_id or f"session-{secrets.token_hex(4)}"
    async with open_desk(settings, screen) as desk:
        await desk.sessions.create(
            session_id,
            order.conductor_id,
            order.objective,
            shared_data=named_values(order.shared),
            preferences=named_values(order.preferred),
        )
        made = [
            await desk.sessions.employ(
                session_id, NewCompanion(by=order.conductor_id, specialization=specialization)
            )
            for specialization in order.companions
        ]
        session = await desk.sessions.get(session_id)
    ids = [one.companion_id for one in made]
    fields = {
        "session_id": session_id,
        "state": session.state,
        "conductor_id": order.conductor_id,
        "objective": order.objective,
        "companions": ids,
    }
    staff = counted(len(ids), "companion", "companions")
    show = [
        f"Session {session_id} is {session.state}, with {staff}.",
        *ids,
        f"dcf session chat {session_id}",
    ]
    return Answer(fields, show)


def named_values(given: Sequence[str]) -> dict[str, Any]:
    """``name=value`` as a dict; a value that is JSON is what it says, any other is text."""
    return {name.strip(): _value(text) for name, _, text in (one.partition("=") for one in given)}


def named_texts(given: Sequence[str]) -> dict[str, str]:
    """``name=text`` as a dict."""
    return {name.strip(): text.strip() for name, _, text in (one.partition("=") for one in given)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
