"""Sessions: a conductor delegates tasks to companions, each one a run with leases and fences."""

from __future__ import annotations

from dcf.sessions.assigning import is_suitable
from dcf.sessions.companion import GENERALIST, Companion
from dcf.sessions.draft import Draft
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
    TaskOver,
    TooLarge,
    TooMany,
    UnknownCompanion,
    UnknownTask,
)
from dcf.sessions.order import DEADLINE_S, Broadcast, BroadcastMode, Order
from dcf.sessions.seat import GRACE_MS, SEAT_MS, inbox_of, seat_of, whose
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
from dcf.sessions.task_run import RESULT_STATUS
from dcf.sessions.tick import settle, why_it_waits

__all__ = [
    "CLOSED",
    "DEADLINE_S",
    "DONE",
    "GENERALIST",
    "GRACE_MS",
    "LOSSES_LIMIT",
    "PRIORITIES",
    "RESULT_STATUS",
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
    "SessionState",
    "SessionTask",
    "Sessions",
    "Settled",
    "TaskExists",
    "TaskOver",
    "TaskStatus",
    "TooLarge",
    "TooMany",
    "UnknownCompanion",
    "UnknownTask",
    "inbox_of",
    "is_suitable",
    "seat_of",
    "settle",
    "whose",
    "why_it_waits",
]
