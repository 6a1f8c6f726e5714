"""``graph``: what runs taught."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.graph_asking import EXITS, register_asking
from dcf.cli.commands.graph_sessions import register_sessions


def register(app: typer.Typer) -> None:
    """Add the group ``graph`` with its commands."""
    graph = typer.Typer(
        help="What runs taught: a graph of skills, tasks, errors, and how they went.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(graph, "sync", example=["dcf graph sync", "dcf graph sync --all"], exits=EXITS)(sync)
    command(graph, "status", example=["dcf graph status", "dcf graph status --mend"], exits=EXITS)(
        status
    )
    register_asking(graph)
    register_sessions(graph)
    app.add_typer(graph, name="graph")


def sync(
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also runs that the graph was given before."),
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Write what waits into the graph, and start it if it does not run.

    Every other command of this group does so first. With --all every run that still has documents
    is written, what is there already once: for a graph that was lost, or new rules of privacy.
    """
    from dcf.cli.graph.sync import sync_graph
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(sync_graph(Settings.from_env(os.environ), screen, everything=everything))


def status(
    mend: Annotated[
        bool, typer.Option("--mend", help="Make vectors of another length anew.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Say where the graph is, what waits for it, and how long its vectors are.

    DCF compares texts by vectors of 512 numbers. A graph that has others is not written to: exit
    code 1, and --mend makes them anew from their texts. Nothing that waits is written.
    """
    from dcf.cli.graph.status import graph_status
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(graph_status(Settings.from_env(os.environ), screen, mend=mend))
