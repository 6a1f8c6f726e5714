"""``serve`` and ``mcp``: the platform for MCP clients."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import DEFAULT_POOL, JsonOption, PoolOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, OK

_EXITS = (OK, BAD_INPUT, ENVIRONMENT)

RoleOption = Annotated[
    str | None,
    typer.Option(
        "--role",
        help="Show the tools of one role: planner, worker, conductor, companion, reflector, "
        "strategist, coder.",
        show_default="all tools",
    ),
]
RootOption = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="The folder that the file tools work in.",
        show_default="DCF_WORKSPACE, else workspace in DCF_HOME",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "serve",
        example=["dcf serve", "dcf serve --host 0.0.0.0 --token-file token.txt --role worker"],
        exits=_EXITS,
    )(serve)
    command(app, "mcp", example=["dcf mcp --role worker", "dcf mcp --role coder"], exits=_EXITS)(
        mcp
    )


def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one.")] = 8337,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with the bearer token that clients must send.",
            show_default="DCF_TOKEN",
        ),
    ] = None,
    role: RoleOption = None,
    root: RootOption = None,
    pool: PoolOption = DEFAULT_POOL,
    as_json: JsonOption = False,
) -> Answer:
    """Serve the platform to MCP clients over HTTP, at /mcp, until SIGTERM or Ctrl-C.

    Off loopback a token is required. /mcp/ROLE has the tools of one role, /healthz says whether
    the server can work. Prints one line of JSON when it is ready, and logs lines of JSON to stderr.

    decide_approval and set_budget want DCF_APPROVAL_TOKEN as approval_token; nobody may use them
    while it is not set. The line of JSON says under "decisions" whether it is.
    """
    from dcf.cli.serve import ServeOrder, serve_platform
    from dcf.cli.settings import Settings

    order = ServeOrder(host, port, token_file, role, root, pool, as_json)
    return asyncio.run(serve_platform(order, Settings.from_env(os.environ)))


def mcp(
    role: RoleOption = None,
    root: RootOption = None,
    pool: PoolOption = DEFAULT_POOL,
    as_json: JsonOption = False,
) -> Answer:
    """Serve the platform to one MCP client over standard input and output.

    For clients that start their servers themselves; ends when the client does. --role coder has
    log_artifact and augmented_context alone, for coding agents; it needs no Redis and starts none.
    decide_approval and set_budget want DCF_APPROVAL_TOKEN as approval_token; nobody may use them
    while it is not set.
    """
    from dcf.cli.mcp import serve_client
    from dcf.cli.settings import Settings

    return asyncio.run(serve_client(role, root, pool, Settings.from_env(os.environ)))
