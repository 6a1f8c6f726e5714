"""The commands, put together. A family of commands is a module with ``register(app)``."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from dcf.cli.answer import Answer

FAMILIES = {
    "running": ("run", "submit", "watch"),
    "services": ("up", "down", "doctor"),
    "serving": ("serve", "mcp"),
    "working": ("worker", "companion"),
    "session": ("session",),
    "health": ("health",),
    "inspecting": ("explain", "history", "open", "runs"),
    "steering": ("cancel", "redrive", "resume", "callback"),
    "deciding": ("approvals", "approve", "reject"),
    "tasks": ("tasks",),
    "authoring": ("init", "validate"),
    "sop": ("sop",),
    "planning": ("plan", "plans"),
    "skills": ("skills",),
    "memory": ("memory",),
    "graph": ("graph",),
    "retrieval": ("retrieval",),
    "documents": ("documents",),
    "reflecting": ("reflect", "advise"),
    "stub": ("stub",),
    "showing": ("demo",),
    "simulating": ("sim",),
    "asl": ("asl",),
}
"""The modules of ``dcf.cli.commands`` and the commands of each, in the order of the help."""


def build_app(first: str | None = None) -> typer.Typer:
    """The application, for a command line whose first word is ``first``.

    A command comes with its family alone: to make all of them takes longer than most commands run.
    Anything else (None, an option, a word that is no command) gets every family.
    """
    app = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_root)
    meant = [family for family, commands in FAMILIES.items() if first in commands]
    for family in meant or FAMILIES:
        import_module(f"dcf.cli.commands.{family}").register(app)
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
        from dcf_agents.installation import installed_version

        return Answer({"version": installed_version()}, show=[f"dcf {installed_version()}"])
    return None
