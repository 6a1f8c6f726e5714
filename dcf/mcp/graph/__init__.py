"""The knowledge graph for MCP clients, with the tools of a Graphiti server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.mcp.graph.desk import GraphDesk
    from dcf.mcp.graph.http_app import create_graph_app, graph_health
    from dcf.mcp.graph.protocol import answer, create_graph_protocol
    from dcf.mcp.graph.tools import TOOLS, GraphTool
else:
    export_late(__name__)

__all__ = [
    "TOOLS",
    "GraphDesk",
    "GraphTool",
    "answer",
    "create_graph_app",
    "create_graph_protocol",
    "graph_health",
]
