"""Arguments and options of the commands about sessions."""

from __future__ import annotations

from typing import Annotated

import typer

SessionArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the session.")]
TaskArgument = Annotated[str, typer.Argument(metavar="TASK", help="Id of the task, or its number.")]


def named(given: str) -> str:
    """``given``, if it is ``name=value``."""
    if not given.partition("=")[0].strip() or "=" not in given:
        raise typer.BadParameter(f"{given!r} is not name=value")
    return given
