"""Sessions: with which agent and where somebody works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.sessions.errors import SessionEnded, UnknownSession
    from dcf.memory.sessions.sessions import Sessions
else:
    export_late(__name__)

__all__ = ["SessionEnded", "Sessions", "UnknownSession"]
