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
    return (await call_for_text(tool, platform, arguments))[0]


async def call_for_text(
    tool: Tool, platform: Platform, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """The answer of ``tool``, and the same as JSON text."""
    warnings: list[str] = []
    limit = tool.limit_s or platform.config.call_limit_s
    try:
        async with asyncio.timeout(limit):
            fields = await tool.call(platform, arguments, warnings)
        whole = answer(fields, legacy=tool.legacy, warnings=warnings)
        # What cannot be written as JSON must not reach the transport.
        text = as_text(whole)
        text.encode()
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        whole = failure(error, legacy=tool.legacy, warnings=warnings, new_id=platform.new_id)
        text = as_text(whole)
    return whole, text


def as_text(fields: Mapping[str, Any]) -> str:
    """JSON text without needless blanks. Raises ValueError, TypeError, RecursionError."""
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
