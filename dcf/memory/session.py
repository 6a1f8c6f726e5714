"""A session: somebody works with an agent for a while, in a project or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it is kept. ``project`` is a path; ``skills_directory`` where the agent's skills
    are read from. ``has_loaded_skills`` says whether it has loaded one since the session began. One
    that has not ended may be of a process that died. Times are ms since the epoch, UTC."""

    id: str
    agent_id: str
    project: str | None
    skills_directory: str | None
    has_loaded_skills: bool
    end_reason: str | None
    started_at: int
    ended_at: int | None
    updated_at: int


@dataclass(frozen=True, slots=True)
class WorkContext:
    """With whom and where this process works. A value: it is read from the memory once, by
    ``sessions.begin`` or ``sessions.resume``, and does not follow what is written there later."""

    agent_id: str
    session_id: str
    project: str | None
    skills_directory: str | None
    has_loaded_skills: bool
    started_at: int

    @classmethod
    def of(cls, session: Session) -> WorkContext:
        """The context of a session."""
        return cls(
            agent_id=session.agent_id,
            session_id=session.id,
            project=session.project,
            skills_directory=session.skills_directory,
            has_loaded_skills=session.has_loaded_skills,
            started_at=session.started_at,
        )


_CURRENT: ContextVar[WorkContext | None] = ContextVar("dcf_work_context", default=None)


def current_context() -> WorkContext | None:
    """The context of the innermost ``working_in`` around this code, None outside of any. Tasks that
    asyncio starts have that of their starter."""
    return _CURRENT.get()


@contextmanager
def working_in(context: WorkContext) -> Iterator[WorkContext]:
    """Let ``context`` be the current one in the block."""
    token = _CURRENT.set(context)
    try:
        yield context
    finally:
        _CURRENT.reset(token)
