"""Sessions: a conductor delegates tasks to companions, each one a run with leases and fences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sessions.assigning import is_suitable
    from dcf.sessions.companion import GENERALIST, PREFIX, Companion
    from dcf.sessions.draft import Draft
    from dcf.sessions.due import tick_due, tick_for_ever
    from dcf.sessions.ending import why_it_waits
    from dcf.sessions.errors import (
        BadValue,
        CompanionBusy,
        CompanionExists,
        DelegationCycle,
        NoConductor,
        NoSuchSpecialization,
        NotOpen,
        SessionProblem,
        TaskExists,
        TaskIdTaken,
        TaskOver,
        TooLarge,
        TooMany,
        UnknownCompanion,
        UnknownTask,
    )
    from dcf.sessions.finding import check_conductor
    from dcf.sessions.listing import SessionRow, SessionRows, nearest_sessions, newest_sessions
    from dcf.sessions.order import DEADLINE_S, Broadcast, BroadcastMode, Order
    from dcf.sessions.searching import sessions_of_companion, sessions_of_task
    from dcf.sessions.seat import GRACE_MS, SEAT_MS, agent_of, inbox_of, seat_of, whose
    from dcf.sessions.session import Context, Counts, Head, Session, SessionState
    from dcf.sessions.sessions import Sessions
    from dcf.sessions.settling import Settled
    from dcf.sessions.staffing import LOSSES_LIMIT, NewCompanion
    from dcf.sessions.stating import ContextChange
    from dcf.sessions.task import (
        CLOSED,
        DONE,
        PRIORITIES,
        Attempt,
        Priority,
        SessionTask,
        TaskStatus,
    )
    from dcf.sessions.task_run import session_of_run
    from dcf.sessions.tick import settle
else:
    export_late(__name__)

__all__ = [
    "CLOSED",
    "DEADLINE_S",
    "DONE",
    "GENERALIST",
    "GRACE_MS",
    "LOSSES_LIMIT",
    "PREFIX",
    "PRIORITIES",
    "SEAT_MS",
    "Attempt",
    "BadValue",
    "Broadcast",
    "BroadcastMode",
    "Companion",
    "CompanionBusy",
    "CompanionExists",
    "Context",
    "ContextChange",
    "Counts",
    "DelegationCycle",
    "Draft",
    "Head",
    "NewCompanion",
    "NoConductor",
    "NoSuchSpecialization",
    "NotOpen",
    "Order",
    "Priority",
    "Session",
    "SessionProblem",
    "SessionRow",
    "SessionRows",
    "SessionState",
    "SessionTask",
    "Sessions",
    "Settled",
    "TaskExists",
    "TaskIdTaken",
    "TaskOver",
    "TaskStatus",
    "TooLarge",
    "TooMany",
    "UnknownCompanion",
    "UnknownTask",
    "agent_of",
    "check_conductor",
    "inbox_of",
    "is_suitable",
    "nearest_sessions",
    "newest_sessions",
    "seat_of",
    "session_of_run",
    "sessions_of_companion",
    "sessions_of_task",
    "settle",
    "tick_due",
    "tick_for_ever",
    "whose",
    "why_it_waits",
]
