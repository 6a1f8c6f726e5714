"""``health``: whether DCF does its work: all of it, or one process for those who watch over it."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import (
    DEFAULT_POOL,
    AnyPoolOption,
    JsonOption,
    PoolOption,
    command,
    epilog,
)
from dcf.cli.exits import BAD_INPUT, FAILED, OK

_EXITS = (OK, FAILED, BAD_INPUT)

HostOption = Annotated[str, typer.Option("--host", help="Where it listens.")]
PortOption = Annotated[int, typer.Option("--port", min=1, max=65535, help="Where it listens.")]

WithinOption = Annotated[
    float, typer.Option("--within", metavar="SECONDS", min=1, help="How old a sign may be.")
]


def register(app: typer.Typer) -> None:
    """Add the group ``health``."""
    group = typer.Typer(
        rich_markup_mode=None,
        epilog=epilog(["dcf health", "dcf health --json", "dcf health worker"], _EXITS),
    )
    group.callback(invoke_without_command=True)(everything)
    command(group, "worker", example="dcf health worker", exits=_EXITS)(worker)
    command(group, "companion", example="dcf health companion", exits=_EXITS)(companion)
    command(group, "mcp", example="dcf health mcp --port 8337", exits=_EXITS)(mcp)
    command(group, "stub", example="dcf health stub --port 8765", exits=_EXITS)(stub)
    command(group, "graph", example="dcf health graph --port 8000", exits=_EXITS)(graph)
    command(group, "retrieval", example="dcf health retrieval", exits=_EXITS)(retrieval)
    app.add_typer(group, name="health")


def everything(
    context: typer.Context,
    pool: AnyPoolOption = None,
    mcp_port: Annotated[
        int, typer.Option("--mcp-port", min=1, max=65535, help="Where the MCP server listens.")
    ] = 8337,
    within_s: WithinOption = 15.0,
    as_json: JsonOption = False,
) -> Answer | None:
    """Show which parts of DCF are healthy; with a command, ask one process.

    Redis, the workers of each pool that is in use, companion hosts and sessions, the MCP server and
    the stub server of this home. What nobody started is not running, which is no illness; without
    Redis nothing works, and it exits with 1.
    """
    if context.invoked_subcommand is not None:
        return None
    from dcf.cli.health_overview import overview
    from dcf.cli.settings import Settings

    return asyncio.run(overview(Settings.from_env(os.environ), pool, mcp_port, within_s))


def worker(
    name: Annotated[
        str | None,
        typer.Option("--name", help="Its name.", show_default="any worker of this machine"),
    ] = None,
    pool: PoolOption = DEFAULT_POOL,
    within_s: WithinOption = 15.0,
    as_json: JsonOption = False,
) -> Answer:
    """Whether a worker lives, by the signs it gives in Redis.

    A worker reads its queue every two seconds, or says every five that it is too busy to read. One
    that hangs, or has lost Redis, gives no sign, though its process is there. Of this machine are
    workers that `dcf up` of this home started, and those of `dcf worker` without --name.
    """
    from dcf.cli.health import worker_health
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(worker_health(settings, name, pool, within_s))


def companion(
    name: Annotated[
        str | None,
        typer.Option("--name", help="Its name.", show_default="any host of this machine"),
    ] = None,
    within_s: WithinOption = 15.0,
    as_json: JsonOption = False,
) -> Answer:
    """Whether a companion host lives, by the sign that it gives in Redis every five seconds.

    Of this machine are hosts that `dcf up` of this home started, and those of `dcf companion`
    without --name.
    """
    from dcf.cli.health import host_health
    from dcf.cli.settings import Settings

    return asyncio.run(host_health(Settings.from_env(os.environ), name, within_s))


def mcp(
    host: HostOption = "127.0.0.1", port: PortOption = 8337, as_json: JsonOption = False
) -> Answer:
    """Whether the MCP server answers, has its Redis and can read its skills."""
    from dcf.cli.health import server_health

    return asyncio.run(server_health("the MCP server", host, port, start="dcf serve"))


def stub(
    host: HostOption = "127.0.0.1", port: PortOption = 8765, as_json: JsonOption = False
) -> Answer:
    """Whether the stub server answers, and serves the configuration that is there now."""
    from dcf.cli.health import server_health

    return asyncio.run(server_health("the stub server", host, port, start="dcf up"))


def graph(
    host: HostOption = "127.0.0.1", port: PortOption = 8000, as_json: JsonOption = False
) -> Answer:
    """Whether the graph's server for MCP clients answers, and has its graph and its Redis."""
    from dcf.cli.health import graph_server_health

    return asyncio.run(graph_server_health(host, port))


def retrieval(
    host: HostOption = "127.0.0.1", port: PortOption = 3030, as_json: JsonOption = False
) -> Answer:
    """Whether the service of `dcf retrieval` answers, and its memory can be read."""
    from dcf.cli.health import server_health

    return asyncio.run(
        server_health("the retrieval service", host, port, start="dcf retrieval serve")
    )
