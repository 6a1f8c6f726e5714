"""What happened in a session: for the Strategist to count, and for agents to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dcf.advisors.strategist import Activity
from dcf.sessions.guidance.counting import activity_of
from dcf.sessions.guidance.past import History
from dcf.sessions.guidance.reading import (
    companions_read,
    context_read,
    delegations_read,
    metrics_read,
    skills_read,
)
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask


@dataclass(frozen=True)
class SessionActivity:
    """A session at ``now`` (ms by Redis's clock) and all ``tasks`` that it ever had but for
    broadcasts, whose children count, in the order in which they were delegated. ``history`` is what
    was known before; what of it was not to be had is said in ``warnings``."""

    session: Session
    tasks: tuple[SessionTask, ...]
    now: int
    history: History = field(default_factory=History)
    warnings: tuple[str, ...] = ()

    @cached_property
    def counted(self) -> Activity:
        """What the Strategist looks at."""
        return activity_of(self.session, self.tasks, self.now, self.history)

    def to_json(
        self,
        *,
        include_companion_details: bool = True,
        include_task_history: bool = True,
        include_skill_metrics: bool = True,
    ) -> dict[str, Any]:
        """What ``read_session_activity`` gives; what is not included is empty. Rates are
        percentages of what ended and was not cancelled, null while nothing is; a partial result is
        no success. ``left_out`` counts the delegations before those that are there."""
        delegations, left_out = delegations_read(self) if include_task_history else ([], 0)
        return {
            "session_id": self.session.session_id,
            "revision": self.session.revision,
            "session_state": self.session.state,
            "session_context": context_read(self),
            "delegations": delegations,
            "left_out": left_out,
            "companions": companions_read(self, with_history=include_task_history)
            if include_companion_details
            else [],
            "skill_metrics": skills_read(self) if include_skill_metrics else {},
            "metrics": metrics_read(self),
        }
