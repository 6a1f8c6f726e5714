"""Companions at work: the processes that serve them, and clients from outside that do."""

from __future__ import annotations

from dcf.sessions.companions.agents import CompanionAgents
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
from dcf.sessions.companions.orphans import Orphans, cleanup_orphaned_companions
from dcf.sessions.companions.process import serve_companions
from dcf.sessions.companions.roster import Roster

__all__ = [
    "CompanionAgents",
    "CompanionHost",
    "HostConfig",
    "Inboxes",
    "Orphans",
    "Received",
    "ReportedOtherwise",
    "Roster",
    "ServedByProcess",
    "TaskNotYours",
    "cleanup_orphaned_companions",
    "receive",
    "report_progress",
    "report_result",
    "serve_companions",
]
