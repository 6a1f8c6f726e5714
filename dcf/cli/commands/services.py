"""``up``, ``down`` and ``doctor``: what runs around a run."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import (
    DEFAULT_LEASE_S,
    DEFAULT_POOL,
    JsonOption,
    LeaseOption,
    PoolOption,
    command,
)
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, OK

_EXITS = (OK, BAD_INPUT, ENVIRONMENT)


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(app, "up", example=["dcf up", "dcf up --workers 4 --companions 1"], exits=_EXITS)(up)
    command(app, "down", example="dcf down", exits=_EXITS)(down)
    command(app, "doctor", example="dcf doctor --json", exits=_EXITS)(doctor)


def up(
    workers: Annotated[
        int, typer.Option("--workers", min=0, help="So many workers in the background.")
    ] = 0,
    companions: Annotated[
        int,
        typer.Option(
            "--companions", min=0, help="So many companion hosts in the background, for sessions."
        ),
    ] = 0,
    pool: PoolOption = DEFAULT_POOL,
    lease_s: LeaseOption = DEFAULT_LEASE_S,
    as_json: JsonOption = False,
) -> Answer:
    """Start Redis and the stub tool server in the background.

    What runs already is kept. With --workers N there are N background workers afterwards
    that read the pool with the skills of this generated folder, with --companions N hosts that
    serve the companions of sessions, some 200 each.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.up import bring_up

    screen = Screen(as_json=as_json)
    return asyncio.run(
        bring_up(
            Settings.from_env(os.environ),
            screen,
            workers=workers,
            companions=companions,
            pool=pool,
            lease_s=lease_s,
        )
    )


def down(as_json: JsonOption = False) -> Answer:
    """Stop what `dcf up` started; the data is kept.

    Background workers and companion hosts finish what they have in work, then the stub server and
    the embedded Redis stop.
    """
    from dcf.cli.down import bring_down
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    return asyncio.run(bring_down(Settings.from_env(os.environ), Screen(as_json=as_json)))


def doctor(as_json: JsonOption = False) -> Answer:
    """Look at everything DCF needs on this machine."""
    from dcf.cli.doctor import examine
    from dcf.cli.settings import Settings

    return asyncio.run(examine(Settings.from_env(os.environ)))
