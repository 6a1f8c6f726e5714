"""The knowledge graph for MCP clients, with the tools of a Graphiti server."""

from __future__ import annotations

from dcf.mcp.graph.desk import GraphDesk
from dcf.mcp.graph.http_app import create_graph_app, graph_health
from dcf.mcp.graph.protocol import answer, create_graph_protocol
from dcf.mcp.graph.tools import TOOLS, GraphTool

__all__ = [
    "TOOLS",
    "GraphDesk",
    "GraphTool",
    "answer",
    "create_graph_app",
    "create_graph_protocol",
    "graph_health",
]
