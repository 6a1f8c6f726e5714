"""What works in this process: agents that remember, and tasks without memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.local.agents import LocalAgents
    from dcf.agents.local.consolidating import consolidation_writer, sleeptime
    from dcf.agents.local.extracting import ModelAsker, extraction_asker
    from dcf.agents.local.remembered_agents import RememberedAgents
    from dcf.agents.local.task_turns import TaskTurns
    from dcf.agents.local.tasks import LocalRuntime
else:
    export_late(__name__)

__all__ = [
    "LocalAgents",
    "LocalRuntime",
    "ModelAsker",
    "RememberedAgents",
    "TaskTurns",
    "consolidation_writer",
    "extraction_asker",
    "sleeptime",
]
