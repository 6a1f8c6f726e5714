"""The platform as an MCP server: one module for each family of tools, thin over the other rooms.

A family says once what a tool is (name, parameters, help, result, roles); what MCP clients see, the
reference page and the checks of arguments all come from there. The SDK is loaded by
``dcf.mcp.protocol`` and what needs it, not by this module.
"""

from __future__ import annotations

from dcf.mcp.catalogue import Catalogue, load_catalogue
from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.platform import Platform, PlatformConfig
from dcf.mcp.roles import ROLES, Role
from dcf.mcp.tool import Tool, tool

__all__ = [
    "ROLES",
    "Catalogue",
    "Envelope",
    "Platform",
    "PlatformConfig",
    "Refused",
    "Role",
    "Tool",
    "load_catalogue",
    "tool",
]
