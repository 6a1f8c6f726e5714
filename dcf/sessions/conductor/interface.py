"""What a chat loop or an MCP tool needs of a conductor."""

from __future__ import annotations

from typing import Protocol

from dcf.sessions.conductor.reply import Reply
from dcf.sessions.session import Session


class Converses(Protocol):
    """A conductor, with a model or by rules. What it knows of a conversation is in the session's
    record and history: any process may take the next turn."""

    async def turn(self, session_id: str, text: str) -> Reply:
        """What the user says next. Comes back as soon as it is delegated; companions work on.
        Raises UnknownSession, SessionProblem."""

    async def attend(self, session_id: str) -> list[Reply]:
        """What became ready since: requests whose tasks are over, failures, changes of the pool of
        companions, an analysis. Each is said once, whoever asks. Raises UnknownSession."""

    async def finalize(self, session_id: str) -> Session:
        """Take nothing new, and end the session when nothing is open any more. Safe to repeat.
        Raises UnknownSession."""
