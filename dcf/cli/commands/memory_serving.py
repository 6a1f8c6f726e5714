"""``memory serve``: the memory of an experiment for programs in other processes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_scope import ProjectOption
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, OK


def register_serving(memory: typer.Typer) -> None:
    """Add the command ``serve``."""
    command(
        memory,
        "serve",
        example=[
            "dcf memory serve exp-1",
            "dcf memory serve exp-1 --stdio",
            "dcf memory serve exp-1 --host 0.0.0.0 --token-file token.txt",
        ],
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(serve)


def serve(
    checkpoint: Annotated[
        str, typer.Argument(metavar="CHECKPOINT", help="The experiment whose tree is served.")
    ],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one.")] = 8339,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with the bearer token that callers must send.",
            show_default="DCF_TOKEN",
        ),
    ] = None,
    files: Annotated[
        Path,
        typer.Option(
            "--files", metavar="DIR", help="The folder in which the files of nodes are looked at."
        ),
    ] = Path(),
    stdio: Annotated[
        bool,
        typer.Option("--stdio", help="Serve one MCP client over standard input and output."),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Serve the memory of an experiment to programs that search a tree of ideas.

    POST /operations/NAME takes the arguments of an operation as JSON and answers JSON; GET
    /operations lists them; /mcp has the same as MCP tools. The header DCF-Node names the node in
    which a caller works, DCF-Actor the caller; with --stdio ARI_CURRENT_NODE_ID does, or the
    client says it. Off loopback a token is required. Prints one line of JSON when it is ready.
    """
    from dcf.cli.memory.serving import ServingOrder, serve_experiment
    from dcf.cli.settings import Settings

    order = ServingOrder(checkpoint, project, host, port, token_file, files, stdio, as_json)
    return asyncio.run(serve_experiment(Settings.from_env(os.environ), order))
