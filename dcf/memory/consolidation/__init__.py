"""Putting memories in order while their agents rest: less room, nothing lost, and a way back.

``Consolidator`` does it to one agent; ``Scheduler`` to all idle agents that want it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.consolidation.activity import Activity
    from dcf.memory.consolidation.analysis import Analysis, BlockUse, Suggestion
    from dcf.memory.consolidation.consolidator import Consolidator
    from dcf.memory.consolidation.errors import (
        ConsolidationLost,
        ConsolidationRunning,
        UnknownConsolidation,
    )
    from dcf.memory.consolidation.scheduler import Scheduler, SchedulerSettings
    from dcf.memory.consolidation.session import (
        ConsolidationChange,
        LeftOut,
        Metrics,
        Session,
        Status,
    )
    from dcf.memory.consolidation.settings import ConsolidationSettings
    from dcf.memory.consolidation.strategy import STRATEGIES, Strategy
    from dcf.memory.consolidation.writing import Write, WriteFailed, Written
else:
    export_late(__name__)

__all__ = [
    "STRATEGIES",
    "Activity",
    "Analysis",
    "BlockUse",
    "ConsolidationChange",
    "ConsolidationLost",
    "ConsolidationRunning",
    "ConsolidationSettings",
    "Consolidator",
    "LeftOut",
    "Metrics",
    "Scheduler",
    "SchedulerSettings",
    "Session",
    "Status",
    "Strategy",
    "Suggestion",
    "UnknownConsolidation",
    "Write",
    "WriteFailed",
    "Written",
]
