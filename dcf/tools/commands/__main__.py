"""``python -m dcf.tools.commands --folder DIR [--keep NAME …]``: serves one MCP client over its
standard input and output. Programs get ``PATH``, ``HOME``, ``LANG`` and what is kept of the
variables.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import anyio
from mcp.server.stdio import stdio_server

from dcf.tools.commands.running import adopt_orphans
from dcf.tools.commands.server import CommandRunner, create_server

_ALWAYS = ("PATH", "HOME", "LANG")


def main() -> None:
    """Serve until the client goes away."""
    parser = argparse.ArgumentParser(prog="dcf.tools.commands", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--keep", action="append", default=[])
    options = parser.parse_args()
    names = (*_ALWAYS, *options.keep)
    environment = {name: os.environ[name] for name in names if name in os.environ}
    options.folder.mkdir(parents=True, exist_ok=True)
    adopt_orphans()
    anyio.run(_serve, CommandRunner(options.folder, environment))


async def _serve(runner: CommandRunner) -> None:
    server = create_server(runner)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    main()
