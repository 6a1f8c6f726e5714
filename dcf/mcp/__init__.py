"""The platform as an MCP server: one module for each family of tools, thin over the other rooms.

A family says once what a tool is (name, parameters, help, result, roles); what MCP clients see, the
reference page and the checks of arguments all come from there. The SDK and an HTTP server are
loaded when ``serve_http``, ``serve_stdio`` or ``Address`` is asked for, not by this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.mcp.arguments import Parameters
    from dcf.mcp.catalogue import Catalogue, load_catalogue
    from dcf.mcp.conductors import Conducting, conductor_for
    from dcf.mcp.cost import cost_of, cost_of_role
    from dcf.mcp.envelope import Envelope, Refused
    from dcf.mcp.help import NoEffect, Obvious, Rare
    from dcf.mcp.platform import Platform, PlatformConfig
    from dcf.mcp.roles import ROLES, WITHOUT_REDIS, Role
    from dcf.mcp.serve import Address, serve_http, serve_stdio
    from dcf.mcp.tool import Tool, tool
else:
    export_late(__name__)

__all__ = [
    "ROLES",
    "WITHOUT_REDIS",
    "Address",
    "Catalogue",
    "Conducting",
    "Envelope",
    "NoEffect",
    "Obvious",
    "Parameters",
    "Platform",
    "PlatformConfig",
    "Rare",
    "Refused",
    "Role",
    "Tool",
    "conductor_for",
    "cost_of",
    "cost_of_role",
    "load_catalogue",
    "serve_http",
    "serve_stdio",
    "tool",
]
