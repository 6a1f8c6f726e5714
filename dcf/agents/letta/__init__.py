"""Agents of a Letta server: an AgentRuntime on it, and agents that move from it and to it.

Needs the extra ``letta``, from the first call on, not to be imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.letta.agents import LettaAgents
    from dcf.agents.letta.errors import (
        LettaDenied,
        LettaFailed,
        LettaMissing,
        LettaSettings,
        LettaUnreachable,
    )
    from dcf.agents.letta.moving import Moved, export_to_letta, import_from_letta
    from dcf.agents.letta.server import LettaServer
else:
    export_late(__name__)

__all__ = [
    "LettaAgents",
    "LettaDenied",
    "LettaFailed",
    "LettaMissing",
    "LettaServer",
    "LettaSettings",
    "LettaUnreachable",
    "Moved",
    "export_to_letta",
    "import_from_letta",
]
