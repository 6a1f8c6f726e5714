"""The tools as an MCP server. Nothing is keyed on the session: any request may come anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, cast

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types import Tool as WireTool

from dcf.mcp.calling import as_text, call_for_text
from dcf.mcp.catalogue import load_catalogue
from dcf.mcp.listing import INSTRUCTIONS, listing
from dcf.mcp.platform import Platform
from dcf.mcp.resources import add_resources
from dcf.mcp.roles import ROLES, Role
from dcf.mcp.tool import Tool

Context = ServerRequestContext[Any, Any]


def create_protocol(platform: Platform, *, role: Role | None = None, version: str) -> Server[Any]:
    """The MCP server over ``platform``. A request sees the tools of the role that its address names
    (``/mcp/{role}``, ``?role=``), else those of ``role``, else all."""

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        # The first time the schemas of all tools are made, which must hold up nobody else.
        return ListToolsResult(tools=await asyncio.to_thread(listed, _role(context, role)))

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tools = load_catalogue().tools(_role(context, role))
        tool = tools.get(params.name)
        if tool is None:
            unknown = _unknown(params.name, tools)
            return result(unknown, as_text(unknown))
        return result(*await call_for_text(tool, platform, params.arguments or {}))

    server = Server[Any](
        "dcf",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # No tool maps arguments to HTTP headers; without this each call would list all tools.
        get_tool_input_schema=lambda _name: None,
    )
    add_resources(server, platform)
    return server


@cache
def listed(role: Role | None) -> list[WireTool]:
    """The tools of ``role`` as clients see them."""
    return [
        WireTool.model_validate(listing(tool)) for tool in load_catalogue().tools(role).values()
    ]


def result(fields: dict[str, Any], text: str) -> CallToolResult:
    """An answer on the wire: structured, and as text for clients that know no better."""
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=fields,
        is_error=fields.get("error") is not None,
    )


def _role(context: Context, default: Role | None) -> Role | None:
    request = context.request
    if request is None:
        return default
    named = request.path_params.get("role") or request.query_params.get("role")
    return cast(Role, named) if named in ROLES else default


def _unknown(name: str, tools: Mapping[str, Tool]) -> dict[str, Any]:
    shown = name[:100].encode("utf-8", "backslashreplace").decode()
    near = get_close_matches(shown, tools, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "tools/list names all"
    others = [role for role in ROLES if name in load_catalogue().tools(role)]
    if name in load_catalogue().tools(None):
        where = f"of {', '.join(others)}" if others else "without a role"
        error = f"unknown_tool: {shown!r} is not in this set of tools"
        return {"status": None, "error": error, "hint": f"it is in the set {where}"}
    return {"status": None, "error": f"unknown_tool: there is no tool {shown!r}", "hint": hint}
