"""``validate`` and ``skills``: checking and generating what users write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, OK

SourceOption = Annotated[Path, typer.Option("--src", metavar="DIR", help="What authors write.")]
_DEFAULT_SOURCE = Path("skills_src")


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(app, "validate", example="dcf validate workflows/*.json", exits=(OK, BAD_INPUT))(
        validate
    )
    skills = typer.Typer(
        help="Skills and tools: check the sources, generate what runs.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        skills, "validate", example="dcf skills validate --src skills_src", exits=(OK, BAD_INPUT)
    )(validate_skills)
    command(
        skills,
        "generate",
        example="dcf skills generate --src skills_src --out generated",
        exits=(OK, BAD_INPUT),
    )(generate_skills)
    app.add_typer(skills, name="skills")


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


def validate_skills(src: SourceOption = _DEFAULT_SOURCE, as_json: JsonOption = False) -> Answer:
    """Check the sources of skills, tools and registry.

    Every problem with its place, rule and hint.
    """
    from dcf.cli.skills import check_sources

    return check_sources(src)


def generate_skills(
    src: SourceOption = _DEFAULT_SOURCE,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Where to.", show_default="DCF_GENERATED or generated"
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Generate what runs from the sources.

    Manifests, catalog, registry and stub configuration; with errors nothing changes.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.skills import generate

    return generate(src, out or Settings.from_env(os.environ).generated)
