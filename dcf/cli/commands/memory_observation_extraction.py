"""``memory observations``: having a model find some."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command


def register_observation_extraction(observations: typer.Typer) -> None:
    """Add ``extract``."""
    command(
        observations,
        "extract",
        example=[
            "dcf memory observations extract --dry-run",
            "dcf memory observations extract --only threads --limit 20",
            "dcf memory observations extract --status --json",
        ],
    )(extract)


def extract(
    only: Annotated[
        str | None,
        typer.Option(
            "--only",
            metavar="runs|threads|sessions|agents",
            show_default="all",
            help="Only of these.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Of so many events.", show_default="all"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Queue nothing and ask nobody; say how much there is.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only show the queue, the budgets and what is wrong.")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Queue again what was set aside.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Ask again although the provider refused or was busy.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Have a model find observations in ended runs and in turns of threads, sessions and agents.

    Each run and each turn is queued once and yields its observations once, whatever is killed
    meanwhile. The model is that of DCF_MODEL_REFLECTOR or DCF_MODEL, within the tokens of
    DCF_EXTRACT_HOUR and DCF_EXTRACT_DAY. No run receives what was found in another one.
    """
    from dcf.cli.memory import observation_extraction as work
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.memory.extraction import KINDS

    of = next((kind for kind in KINDS if kind == only), None)
    if only is not None and of is None:
        raise typer.BadParameter(f"{only!r} is none of {', '.join(KINDS)}", param_hint="--only")
    given = {
        "--only": only is not None,
        "--limit": limit is not None,
        "--dry-run": dry_run,
        "--retry": retry,
        "--resume": resume,
    }
    if status:
        _refuse("--status", given, "it shows all that is known, and changes nothing")
    if dry_run:
        _refuse("--dry-run", {**given, "--only": False}, "it counts all, and changes nothing")
    settings, screen = Settings.from_env(os.environ), Screen(as_json=as_json)
    if status:
        return asyncio.run(work.show_standing(settings))
    order = work.ExtractionOrder(of, limit, retry, resume)
    if dry_run:
        return asyncio.run(work.try_extraction(settings, order, screen))
    return asyncio.run(work.extract(settings, order, screen))


def _refuse(option: str, given: Mapping[str, bool], why: str) -> None:
    """Refuse options that have no effect together with ``option``."""
    others = [name for name, is_given in given.items() if is_given and name != option]
    if others:
        message = f"has no effect with {option}: {why}"
        raise typer.BadParameter(message, param_hint=", ".join(others))
