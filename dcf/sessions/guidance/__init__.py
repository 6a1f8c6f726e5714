"""The Strategist of a running session: what it counts, what a conductor is told, and by whom.

``Guidance`` keeps guidelines in the record of their conductor, where compare-and-set loses no
change; a memory block only shows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.advisors.strategist import Updated
    from dcf.sessions.guidance.activity import SessionActivity
    from dcf.sessions.guidance.answers import REASONS, Analysed, Guided, Reason, Registered, Said
    from dcf.sessions.guidance.errors import OneAgentTwice, UnreadableGuidelines
    from dcf.sessions.guidance.event import analysis_event
    from dcf.sessions.guidance.guidance import Guidance
    from dcf.sessions.guidance.opening import open_guidance
    from dcf.sessions.guidance.past import GraphPast, History, Past
    from dcf.sessions.guidance.showing import REFERENCE, REGISTRATION, Memory, agent_named
else:
    export_late(__name__)

__all__ = [
    "REASONS",
    "REFERENCE",
    "REGISTRATION",
    "Analysed",
    "GraphPast",
    "Guidance",
    "Guided",
    "History",
    "Memory",
    "OneAgentTwice",
    "Past",
    "Reason",
    "Registered",
    "Said",
    "SessionActivity",
    "UnreadableGuidelines",
    "Updated",
    "agent_named",
    "analysis_event",
    "open_guidance",
]
