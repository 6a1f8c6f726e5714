"""One call of a tool, from arguments to answer. Whatever happens, there is an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from dcf.mcp.envelope import answer, failure
from dcf.mcp.platform import Platform
from dcf.mcp.tool import Tool


async def call(tool: Tool, platform: Platform, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of ``tool``: ``{status, error, …}``."""
    warnings: list[str] = []
    limit = tool.limit_s or platform.config.call_limit_s
    try:
        async with asyncio.timeout(limit):
            fields = await tool.call(platform, arguments, warnings)
        whole = answer(fields, legacy=tool.legacy, warnings=warnings)
        # What cannot be written as JSON must not reach the transport.
        json.dumps(whole, ensure_ascii=False, allow_nan=False).encode()
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return failure(error, legacy=tool.legacy, warnings=warnings, new_id=platform.new_id)
    return whole
