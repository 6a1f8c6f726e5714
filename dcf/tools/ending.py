"""How a connection ended."""

from __future__ import annotations

import asyncio

from mcp import MCPError


def look_at(task: asyncio.Task[None]) -> None:
    """Take note of how a connection ended; callers report it, the event loop need not."""
    if not task.cancelled():
        task.exception()


def ending(task: asyncio.Task[None], opening_s: float) -> str:
    """What ended a connection that had ``opening_s`` seconds to open, in one line."""
    if task.cancelled():
        return "the connection was cancelled"
    error = task.exception()
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is None:
        return "the connection is closed"
    if isinstance(error, TimeoutError):
        return f"no answer to the opening within {opening_s:g} s"
    if isinstance(error, MCPError):
        return error.message
    return f"{type(error).__name__}: {error}".rstrip(": ")
