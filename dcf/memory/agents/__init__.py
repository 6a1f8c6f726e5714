"""The agents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.agents.agents import Agents
    from dcf.memory.agents.creation import create_agent
    from dcf.memory.agents.deletion import delete_agent
    from dcf.memory.agents.errors import AgentExists, UnknownAgent
    from dcf.memory.agents.fields import AgentFields
    from dcf.memory.agents.finding import agent_row
    from dcf.memory.agents.tags import follow_tags
else:
    export_late(__name__)

__all__ = [
    "AgentExists",
    "AgentFields",
    "Agents",
    "UnknownAgent",
    "agent_row",
    "create_agent",
    "delete_agent",
    "follow_tags",
]
