"""``memory observations``: observations as files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import (
    ConceptOption,
    ProjectOption,
    SinceOption,
    SourceIdOption,
    SourceOption,
    TypeOption,
    UntilOption,
    WorkflowOption,
)


def register_observation_files(observations: typer.Typer) -> None:
    """Add ``export`` and ``import``."""
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


def export(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE|-", help="Write it here.", show_default="stdout"),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="A file that is there may be replaced.")
    ] = False,
    type_: TypeOption = None,
    concept: ConceptOption = None,
    source: SourceOption = None,
    source_id: SourceIdOption = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", min=0, help="Only of this turn.")
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    days: Annotated[
        int | None,
        typer.Option(
            "--days", metavar="N", min=0, max=36_500, help="Of so many days.", show_default="all"
        ),
    ] = None,
    project: ProjectOption = None,
    workflow: WorkflowOption = None,
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
    asked = ObservationsQuestion(
        types=tuple(type_ or ()),
        concepts=tuple(concept or ()),
        sources=tuple(source or ()),
        source_ids=tuple(source_id or ()),
        turn=turn,
        since=since,
        until=until,
        days=days,
        projects=tuple(project or ()),
        workflows=tuple(workflow or ()),
    )
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
    changes nothing. Secrets are taken out. Every line or row that is right is kept; each that is
    not is told with its number and reason. A database may be in use: it is only read.
    """
    from dcf.cli.memory.observation_import import ImportOrder, import_observations
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    order = ImportOrder(file, tuple(project or ()))
    screen = Screen(as_json=as_json)
    return asyncio.run(import_observations(Settings.from_env(os.environ), order, screen))
