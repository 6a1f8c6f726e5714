"""A little MCP server whose schema changes when its file changes: `python changing_server.py PORT
FILE`, where FILE holds the tools as MCP lists them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server


def server_of(file: Path) -> Server[Any]:
    """The server; FILE is read at each request."""

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        tools = [types.Tool.model_validate(tool) for tool in json.loads(file.read_text())]
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: Any) -> types.CallToolResult:
        said = {"did": params.name, **(params.arguments or {})}
        text = types.TextContent(text=json.dumps(said))
        return types.CallToolResult(content=[text], structured_content=said)

    return Server("changing", on_list_tools=list_tools, on_call_tool=call_tool)


if __name__ == "__main__":
    app = server_of(Path(sys.argv[2])).streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
