"""``asl``: state machines without a control plane: check, run, test, draw, measure."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    asl = typer.Typer(
        help="Amazon States Language: check, run, test and draw machines; nothing is started.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    app.add_typer(asl, name="asl")
