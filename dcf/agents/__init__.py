"""Agents: one assignment in, one report out, with tools in between.

``LocalRuntime`` runs an assignment on the turn loop of pydantic-ai. Without a configured model
the rehearsal takes the turns: deterministic, offline, and each of its reports says so.
"""

from __future__ import annotations

from dcf.agents.assignment import JSON, Assignment
from dcf.agents.local import LocalRuntime
from dcf.agents.report import Report
from dcf.agents.runtime import AgentRuntime, Observer, ToolCaller
from dcf.agents.task_error import TaskError
from dcf.agents.turn_event import TurnEvent, TurnEventKind
from dcf.agents.usage_limits import UsageLimits

__all__ = [
    "JSON",
    "AgentRuntime",
    "Assignment",
    "LocalRuntime",
    "Observer",
    "Report",
    "TaskError",
    "ToolCaller",
    "TurnEvent",
    "TurnEventKind",
    "UsageLimits",
]
