"""Companions at work: the processes that serve them, and clients from outside that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sessions.companions.admitting import WrongCompanionToken, admit, new_token
    from dcf.sessions.companions.agents import CompanionAgents
    from dcf.sessions.companions.delegation_observer import DelegationObserver
    from dcf.sessions.companions.ended_sessions import EndedSessions
    from dcf.sessions.companions.external import (
        Received,
        ReportedOtherwise,
        ServedByProcess,
        TaskNotYours,
        receive,
        report_progress,
        report_result,
    )
    from dcf.sessions.companions.host import CompanionHost, HostConfig
    from dcf.sessions.companions.inboxes import Inboxes
    from dcf.sessions.companions.orphans import (
        Orphans,
        cleanup_orphaned_companions,
        lost_outside,
    )
    from dcf.sessions.companions.outside import (
        OUTSIDE,
        forget_outside,
        outside_records,
        outside_tags,
    )
    from dcf.sessions.companions.process import serve_companions
    from dcf.sessions.companions.roster import Roster
else:
    export_late(__name__)

__all__ = [
    "OUTSIDE",
    "CompanionAgents",
    "CompanionHost",
    "DelegationObserver",
    "EndedSessions",
    "HostConfig",
    "Inboxes",
    "Orphans",
    "Received",
    "ReportedOtherwise",
    "Roster",
    "ServedByProcess",
    "TaskNotYours",
    "WrongCompanionToken",
    "admit",
    "cleanup_orphaned_companions",
    "forget_outside",
    "lost_outside",
    "new_token",
    "outside_records",
    "outside_tags",
    "receive",
    "report_progress",
    "report_result",
    "serve_companions",
]
