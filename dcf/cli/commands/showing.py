"""``demo``: see a worker die and its work survive."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "demo",
        example="dcf demo",
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED),
    )(demo)


def demo(
    workflow: Annotated[
        Path | None,
        typer.Option(
            "--workflow",
            metavar="FILE",
            help="The workflow to run, with --input and your own skills.",
            show_default="the order that comes with DCF, and its skills",
        ),
    ] = None,
    input_: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="Its input.", show_default="order-demo"),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Kill a worker in a tool call, see its work survive.

    Runs an order with two workers, one of which dies.

    Uses servers of its own in .dcf/demo; needs no key, no Docker, no network.
    """
    from dcf.cli.demo import play
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(play(workflow, input_, Settings.from_env(os.environ), screen))
