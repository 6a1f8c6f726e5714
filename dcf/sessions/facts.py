"""What is told of a session to those who remember."""

from __future__ import annotations

from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask


class Facts:
    """Told of each task that ended and of each state that a session comes to, at least once.
    Nobody remembers here."""

    async def task(self, session: Session, task: SessionTask) -> None:
        """A task is over. Raises OutboxFull: it is told again later."""

    async def session(self, session: Session) -> None:
        """The session is in another state. Raises OutboxFull."""
