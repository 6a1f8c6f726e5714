"""``validate``: checking the workflows that users write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(app, "validate", example="dcf validate workflows/*.json", exits=(OK, BAD_INPUT))(
        validate
    )


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
