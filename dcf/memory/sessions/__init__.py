"""Sessions: with which agent and where somebody works."""

from __future__ import annotations

from dcf.memory.sessions.errors import SessionEnded, UnknownSession
from dcf.memory.sessions.sessions import Sessions

__all__ = ["SessionEnded", "Sessions", "UnknownSession"]
