"""``stub``: the stub tool server in the foreground, and the recorder of real ones."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command, epilog
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, OK

_EXITS = (OK, BAD_INPUT, ENVIRONMENT)
_TOKEN_HELP = "Bearer token that callers must send; better in the environment than typed."
HostOption = Annotated[
    str | None,
    typer.Option("--host", help="Address.", show_default="STUB_MCP_HOST or 127.0.0.1"),
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port", min=0, max=65535, help="0 takes a free one.", show_default="STUB_MCP_PORT or 8765"
    ),
]
TokenOption = Annotated[
    str | None, typer.Option("--token", help=_TOKEN_HELP, show_default="DCF_TOKEN off loopback")
]


def register(app: typer.Typer) -> None:
    """Add the group ``stub``, which is a command too."""
    group = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
    group.callback(
        invoke_without_command=True,
        epilog=epilog(["dcf stub", "dcf stub --port 0 --seed 7"], _EXITS),
    )(stub)
    command(
        group,
        "record",
        example="dcf stub record --server payments --out skills_src/tools/payments.tools.yaml",
        exits=_EXITS,
    )(record)
    app.add_typer(group, name="stub")


def stub(
    context: typer.Context,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="What it serves.",
            show_default="STUB_CONFIG or stub/stub_config.json in the generated folder",
        ),
    ] = None,
    host: HostOption = None,
    port: PortOption = None,
    path: Annotated[
        str | None,
        typer.Option(
            "--path",
            help="Where all servers together are; each alone is at PATH/SERVER.",
            show_default="STUB_MCP_PATH or /mcp",
        ),
    ] = None,
    token: TokenOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of random choices, instead of the sources'.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer | None:
    """Serve the stub tools until SIGTERM or Ctrl-C.

    Answers come from the cases of the tools sources; a newly generated configuration is served at
    once. Prints one line of JSON when it is ready. Off loopback it wants a token.
    """
    if context.invoked_subcommand is not None:
        return None
    from dcf.cli.settings import Settings
    from dcf.cli.stub import StubOrder, run_stub

    order = StubOrder(config, host, port, path, token, seed, as_json)
    return asyncio.run(run_stub(order, Settings.from_env(os.environ)))


def record(
    server: Annotated[
        str, typer.Option("--server", metavar="ID", help="The server of the registry to record.")
    ],
    registry: Annotated[
        Path | None,
        typer.Option(
            "--registry",
            metavar="FILE",
            help="The registry.",
            show_default="registry.json in the generated folder",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="The tools file.", show_default="ID.recorded.tools.yaml"
        ),
    ] = None,
    host: HostOption = None,
    port: PortOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Stand in front of a real server and write its answers as cases.

    Calls to /mcp are passed on to the server; each new one becomes a case of the tools file, which
    is brought up to date after every call. What stands in the file stays. Secrets are left out.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.stub_record import RecordOrder, run_recorder

    order = RecordOrder(server, registry, out, host, port, token, as_json)
    return asyncio.run(run_recorder(order, Settings.from_env(os.environ)))
