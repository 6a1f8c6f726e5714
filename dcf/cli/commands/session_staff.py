"""``session companions``, ``hire`` and ``dismiss``."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.session_options import SessionArgument


def register_staff(group: typer.Typer) -> None:
    """Add the commands about companions."""
    command(group, "companions", example="dcf session companions support-42")(companions)
    command(
        group,
        "hire",
        example="dcf session hire support-42 --specialization billing --skill support.refund_order",
    )(hire)
    command(group, "dismiss", example="dcf session dismiss support-42 companion-billing-1")(dismiss)


def companions(
    session_id: SessionArgument,
    former: Annotated[bool, typer.Option("--former", help="Those that left it, too.")] = False,
    as_json: JsonOption = False,
) -> Answer:
    """List the companions of a session: what each does, and whether somebody serves it."""
    from dcf.cli.screen import Screen
    from dcf.cli.session.listing import list_companions
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(list_companions(session_id, settings, screen, former=former))


def hire(
    session_id: SessionArgument,
    specialization: Annotated[
        str, typer.Option("--specialization", metavar="NAME", help="What it is good at.")
    ] = "generalist",
    skill: Annotated[
        list[str] | None,
        typer.Option(
            "--skill", metavar="REF", help="A skill that it is made for; may be repeated."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Its id is companion-NAME.", show_default="one is made"),
    ] = None,
    tier: Annotated[
        int | None,
        typer.Option("--tier", min=0, max=3, help="The model tier that it has at least."),
    ] = None,
    external: Annotated[
        bool, typer.Option("--external", help="An MCP client serves it, no companion process.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Make a companion for a session."""
    from dcf.cli.screen import Screen
    from dcf.cli.session import staffing
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(
        staffing.hire(
            session_id, specialization, skill or (), name, tier, external, settings, screen
        )
    )


def dismiss(
    session_id: SessionArgument,
    companion_id: Annotated[str, typer.Argument(metavar="COMPANION", help="Who is to go.")],
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the history.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Take a companion out of a session; its task goes to another that is suitable."""
    from dcf.cli.screen import Screen
    from dcf.cli.session import staffing
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(staffing.dismiss(session_id, companion_id, reason, settings, screen))
