"""``memory observations``: observations as files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import LimitOption
from dcf.cli.commands.observation_choice import (
    AnyDaysOption,
    PinnedOption,
    ThisProjectOption,
    choosing,
)

if TYPE_CHECKING:
    from dcf.memory import ObservationChoice


def register_observation_files(observations: typer.Typer) -> None:
    """Add ``export``, ``import`` and ``render``."""
    command(
        observations,
        "export",
        example=[
            "dcf memory observations export --out observations.jsonl",
            "dcf memory observations export --type decision --days 30",
        ],
    )(export)
    command(
        observations,
        "import",
        example=[
            "dcf memory observations import observations.jsonl",
            "dcf memory observations import ~/.claude-mem/claude-mem.db --project .",
        ],
    )(import_)
    command(
        observations,
        "render",
        example=[
            "dcf memory observations render AGENTS.md",
            "dcf memory observations render AGENTS.md --type decision --format full --days 365",
            "dcf memory observations render AGENTS.md --check",
        ],
    )(render)


@choosing(days=(AnyDaysOption, None))
def export(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE|-", help="Write it here.", show_default="stdout"),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="A file that is there may be replaced.")
    ] = False,
    *,
    choice: ObservationChoice,
    as_json: JsonOption = False,
) -> Answer:
    """Write observations to a file, one line of JSON each.

    With each time that they were seen and what that run said, by their ids. The file is there
    whole or not at all.
    """
    from dcf.cli.memory.observation_files import LinesOrder, export_observations
    from dcf.cli.memory.observations import ObservationsQuestion
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    to_stdout = out is None or str(out) == "-"
    if to_stdout and as_json:
        raise typer.BadParameter(
            "the lines themselves go to stdout; it needs --out FILE", param_hint="--json"
        )
    asked = ObservationsQuestion(choice)
    order = LinesOrder(asked, None if to_stdout else out, overwrite)
    screen = Screen(as_json=as_json)
    return asyncio.run(export_observations(Settings.from_env(os.environ), order, screen))


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What `export` wrote, or the database of claude-mem."),
    ],
    project: Annotated[
        list[str] | None,
        typer.Option(
            "--project",
            metavar="[NAME=]FOLDER",
            help="Of a database only the project of this folder's name, or NAME, for this folder; "
            "may be repeated.",
            show_default="all, by the names there",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Bring in the observations of another memory, or of the program claude-mem.

    What is known already in the same words is kept once, with the sources of both; importing again
    changes nothing. Secrets are taken out. Every valid line or row is kept; an invalid one is
    reported with its number and the reason. A database may be in use: it is only read.
    """
    from dcf.cli.memory.observation_import import ImportOrder, import_observations
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    order = ImportOrder(file, tuple(project or ()))
    screen = Screen(as_json=as_json)
    return asyncio.run(import_observations(Settings.from_env(os.environ), order, screen))


@choosing(project=(ThisProjectOption, None), pinned=(PinnedOption, False))
def render(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A Markdown file; it is made if it is missing.")
    ],
    format_: Annotated[
        str, typer.Option("--format", metavar="index|full", help="A line for each, or all of it.")
    ] = "index",
    *,
    choice: ObservationChoice,
    limit: LimitOption = 50,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=0,
            max=1_000_000,
            help="At most so many.",
            show_default="DCF_CONTEXT_INDEX, or DCF_CONTEXT_DETAILS with --format full",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail when something would change.")
    ] = False,
    extracted: Annotated[
        bool,
        typer.Option(
            "--extracted", help="Also what a model found in runs, threads or in claude-mem."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Write observations into a section of a Markdown file, such as AGENTS.md.

    The section stands between <!-- dcf:observations --> and <!-- /dcf:observations -->, at the end
    of a file that has neither; all else stays as it is. First comes what is pinned, then the
    newest, as far as the budget lasts. What a model found in texts, which may be of strangers, is
    left out without --extracted, and marked with it.
    """
    from dcf.cli.memory.observation_section import RenderOrder, render_observations
    from dcf.cli.memory.observations import ObservationsQuestion
    from dcf.cli.settings import Settings

    asked = ObservationsQuestion(choice, format_, limit=limit)
    order = RenderOrder(file, asked, budget, check, extracted)
    return asyncio.run(render_observations(Settings.from_env(os.environ), order))
