"""The graph's tools as an MCP server. Whatever happens, there is an answer: the tool's result, or
``{error, hint?}``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

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

from control_plane import ControlPlaneError
from dcf.knowledge import KnowledgeError
from dcf.mcp.calling import as_text
from dcf.mcp.envelope import BadArguments
from dcf.mcp.graph.desk import GraphDesk
from dcf.mcp.graph.names import Refused
from dcf.mcp.graph.tools import EARLIER, TOOLS, GraphTool

log = logging.getLogger(__name__)

LIMIT_S = 60.0
"""So long a call may take, in seconds."""
_INSTRUCTIONS = (
    "The knowledge graph of DCF: what runs taught of skills, tasks, agents and errors, and texts "
    "that were added. Groups default to all that are written. A tool that fails answers {error}."
)
Context = ServerRequestContext[Any, Any]


def create_graph_protocol(desk: GraphDesk, *, version: str) -> Server[Any]:
    """The MCP server over ``desk``."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        tools = [
            WireTool(name=one.name, description=one.description, input_schema=one.schema)
            for one in TOOLS.values()
        ]
        return ListToolsResult(tools=tools)

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        fields = await answer(desk, params.name, params.arguments or {})
        return CallToolResult(
            content=[TextContent(text=as_text(fields))],
            structured_content=fields,
            is_error="error" in fields,
        )

    return Server[Any](
        "dcf-graph",
        version=version,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # No tool maps arguments to HTTP headers; without this each call would list all tools.
        get_tool_input_schema=lambda _name: None,
    )


async def answer(desk: GraphDesk, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the tool ``name``."""
    tool = TOOLS.get(EARLIER.get(name, name))
    if tool is None:
        return {"error": f"unknown_tool: {name[:100]!r}", "hint": f"one of {', '.join(TOOLS)}"}
    try:
        async with asyncio.timeout(LIMIT_S):
            return await _called(tool, desk, arguments)
    except BadArguments as error:
        return {"error": "bad_arguments: " + "; ".join(map(str, error.problems))}
    except Refused as error:
        return {"error": str(error)}
    except KnowledgeError as error:
        return _failed(error.code, error.message, error.hint)
    except ControlPlaneError as error:
        return _failed(error.code, str(error), "nothing was kept; say it again later")
    except TimeoutError:
        return _failed("timeout", f"it took longer than {LIMIT_S:.0f} s", "ask for less")
    except Exception:
        # A client is told that it was no fault of its own; the log has the rest, but no arguments.
        log.exception("the tool %s failed", name)
        return _failed("internal", f"{name} failed; the log of the server says why", "")


async def _called(tool: GraphTool, desk: GraphDesk, arguments: Mapping[str, Any]) -> dict[str, Any]:
    warnings: list[str] = []
    values = tool.parameters.read(arguments, warnings)
    fields = await tool.work(desk, **values)
    return {**fields, "warnings": warnings} if warnings else fields


def _failed(code: str, message: str, hint: str) -> dict[str, Any]:
    return {"error": f"{code}: {message}", **({"hint": hint} if hint else {})}
