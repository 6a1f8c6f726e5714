"""Who may serve a companion from outside: the client that shows the companion's token."""

from __future__ import annotations

import hmac
from dataclasses import replace

from control_plane import payload
from dcf.sessions.draft import Draft
from dcf.sessions.errors import SessionProblem
from dcf.sessions.finding import find_companion, unknown_companion
from dcf.sessions.sessions import Sessions


class WrongCompanionToken(SessionProblem):
    """That is not the companion_token of {companion_id}."""

    code = "wrong_companion_token"
    hint = (
        "who made the companion was told it, once; one whose token is lost is dismissed, and "
        "another made"
    )


async def new_token(sessions: Sessions, session_id: str, companion_id: str) -> str | None:
    """A token for a companion that is served from outside, in place of the one it had; only its
    digest is kept. None once somebody has shown one: nobody takes its place. Raises UnknownSession,
    UnknownCompanion."""
    token = sessions.store.new_id()
    digest = payload.digest(token)

    def step(draft: Draft) -> bool:
        companion = find_companion(draft, companion_id)
        if not companion.external or companion.seated_at is not None:
            return False
        draft.seat(replace(companion, token_digest=digest))
        return True

    given, _ = await sessions.change(session_id, step)
    return token if given else None


async def admit(sessions: Sessions, session_id: str, companion_id: str, token: str) -> None:
    """Let nobody in but who shows the token of this companion. Raises WrongCompanionToken,
    UnknownSession, UnknownCompanion."""
    session = await sessions.get(session_id)
    companion = session.companions.get(companion_id)
    if companion is None:
        raise unknown_companion(session, companion_id)
    kept = companion.token_digest or ""
    shown = payload.digest(token.encode("utf-8", "replace").decode())
    if companion.external and not hmac.compare_digest(kept, shown):
        raise WrongCompanionToken(companion_id=companion_id)
