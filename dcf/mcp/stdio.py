"""MCP over standard input and output."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from mcp.server import Server


async def serve_on_stdio(protocol: Server[Any]) -> bool:
    """Serve one client on standard input and output. True when the client closed them; False at
    SIGTERM or SIGINT: a thread then still reads the input, and only the end of the process ends
    that."""
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (read, write):
            await protocol.run(read, write, protocol.create_initialization_options())

    work = asyncio.create_task(run())
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    stop = asyncio.create_task(told.wait())
    await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if work.done():
        work.result()
    return work.done()
