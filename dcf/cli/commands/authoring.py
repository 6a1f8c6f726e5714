"""``init`` and ``validate``: what users write begins, and is checked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "init",
        example=["dcf init shop", "dcf init --examples"],
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(init)
    command(app, "validate", example="dcf validate workflows/*.json", exits=(OK, BAD_INPUT))(
        validate
    )


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where it goes; made if need be.")
    ] = Path(),
    examples: Annotated[
        bool, typer.Option("--examples", help="The examples of DCF instead: shops, desks, offices.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Begin a project.

    Writes a skill with tests, a workflow, an input, a .gitignore and a short README, and generates
    what runs from them: `dcf skills test` and `dcf run` pass at once. Nothing is overwritten.
    """
    from dcf.cli.init import start_project

    return start_project(folder, examples=examples)


def validate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Workflow documents or plain ASL.")
    ],
    as_json: JsonOption = False,
) -> Answer:
    """Check workflow documents.

    Every problem with its place, rule and hint. Starts nothing; warnings alone exit with 0.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.validate import validate_files

    return validate_files(files, Settings.from_env(os.environ))
