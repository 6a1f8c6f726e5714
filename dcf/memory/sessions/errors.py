"""What can go wrong with sessions."""

from __future__ import annotations

from dcf.memory.errors import MemoryProblem


class UnknownSession(MemoryProblem):
    """There is no session {session_id}."""

    code = "memory_unknown_session"
    hint = "ended sessions are given up after a while; a new one can begin at any time"


class SessionEnded(MemoryProblem):
    """Session {session_id} has ended: {reason}."""

    code = "memory_session_ended"
    hint = "begin another one, or resume the project"
