"""Agents: one assignment in, one report out, with tools in between.

``LocalRuntime`` runs an assignment on the turn loop of pydantic-ai. Without a configured model
the rehearsal takes the turns: deterministic, offline, and each of its reports says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.assignment import JSON, Assignment
    from dcf.agents.background import meanwhile
    from dcf.agents.briefing import worker_prompt
    from dcf.agents.local import (
        LocalAgents,
        LocalRuntime,
        ModelAsker,
        RememberedAgents,
        TaskTurns,
        consolidation_writer,
        extraction_asker,
        sleeptime,
    )
    from dcf.agents.messaging import ReplyTimeout, UnknownReceipt
    from dcf.agents.model_choice import (
        ModelSelection,
        amsp_metrics,
        choose_model,
        execution_metrics,
        tier_models,
    )
    from dcf.agents.notes import NOTE_TOOLS, answer_notes
    from dcf.agents.opening import open_runtime, runtime_named
    from dcf.agents.performer import Observer, TaskPerformer, ToolCaller
    from dcf.agents.reply import Receipt, Reply
    from dcf.agents.report import RESULT_STATUS, Report
    from dcf.agents.runtime import AgentRuntime, ToolUse, UseOf
    from dcf.agents.task_error import TaskError
    from dcf.agents.turn_event import TurnEvent, TurnEventKind
    from dcf.agents.usage_limits import UsageLimits
    from dcf.memory import CircularMessage, ToolSpec, Usage
else:
    export_late(__name__)

__all__ = [
    "JSON",
    "NOTE_TOOLS",
    "RESULT_STATUS",
    "AgentRuntime",
    "Assignment",
    "CircularMessage",
    "LocalAgents",
    "LocalRuntime",
    "ModelAsker",
    "ModelSelection",
    "Observer",
    "Receipt",
    "RememberedAgents",
    "Reply",
    "ReplyTimeout",
    "Report",
    "TaskError",
    "TaskPerformer",
    "TaskTurns",
    "ToolCaller",
    "ToolSpec",
    "ToolUse",
    "TurnEvent",
    "TurnEventKind",
    "UnknownReceipt",
    "Usage",
    "UsageLimits",
    "UseOf",
    "amsp_metrics",
    "answer_notes",
    "choose_model",
    "consolidation_writer",
    "execution_metrics",
    "extraction_asker",
    "meanwhile",
    "open_runtime",
    "runtime_named",
    "sleeptime",
    "tier_models",
    "worker_prompt",
]
