"""Agent files (``.af``), in which agents move between programs: read, written, im- and exported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.agents.files.agent_file import AgentFile, FileAgent, FileBlock, FileMessage, FileTool
    from dcf.agents.files.errors import InvalidAgentFile
    from dcf.agents.files.export_agents import export_agents
    from dcf.agents.files.import_agents import import_agents
    from dcf.agents.files.read import read_agent_file
    from dcf.agents.files.write import write_agent_file
else:
    export_late(__name__)

__all__ = [
    "AgentFile",
    "FileAgent",
    "FileBlock",
    "FileMessage",
    "FileTool",
    "InvalidAgentFile",
    "export_agents",
    "import_agents",
    "read_agent_file",
    "write_agent_file",
]
