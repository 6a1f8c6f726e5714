"""The commands, put together. A family of commands is a module with ``register(app)``."""

from __future__ import annotations

from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands import (
    asl,
    authoring,
    deciding,
    graph,
    health,
    inspecting,
    memory,
    planning,
    reflecting,
    running,
    services,
    serving,
    session,
    showing,
    simulating,
    skills,
    sop,
    steering,
    stub,
    working,
)

FAMILIES = (
    running,
    services,
    serving,
    working,
    session,
    health,
    inspecting,
    steering,
    deciding,
    authoring,
    sop,
    planning,
    skills,
    memory,
    graph,
    reflecting,
    stub,
    showing,
    simulating,
    asl,
)


def build_app() -> typer.Typer:
    """The application with every family registered, in the order of its help."""
    app = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    for family in FAMILIES:
        family.register(app)
    return app


_HELP = """Durable agent workflows.

\b
Example:
  dcf run workflows/order-processing.json --input workflows/inputs/order-demo.json
  dcf runs
  dcf history <run id>

Every command takes --json: one JSON document {status, error, ...} on stdout.
"""


def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)
    ] = False,
) -> Answer | None:
    if version:
        from importlib.metadata import version as installed

        return Answer({"version": installed("dcf")}, show=[f"dcf {installed('dcf')}"])
    return None
