"""``skills``: brought in, given away, compared, locked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.skills_folders import (
    DEFAULT_SOURCE,
    GeneratedOption,
    SourceOption,
    generated_folder,
)
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK


def register_exchange(skills: typer.Typer) -> None:
    """Add ``import``, ``export``, ``diff`` and ``lock`` to the group ``skills``."""
    command(
        skills,
        "import",
        example="dcf skills import ~/agent-skills/pdf-processing --dry-run",
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(import_one)
    command(
        skills,
        "export",
        example=["dcf skills export tea.brew@^1 --out agent-skills", "dcf skills export --all"],
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(export)
    command(
        skills,
        "diff",
        example=[
            "dcf skills diff tea.brew@1.0.0 tea.brew",
            "dcf skills diff old/generated generated --check",
        ],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(diff)
    command(
        skills,
        "lock",
        example=["dcf skills lock", "dcf skills lock --server payments --check"],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(lock)


def import_one(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder with SKILL.md.")],
    src: SourceOption = DEFAULT_SOURCE,
    generated: GeneratedOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; say what would be written.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Bring an Agent Skill (a folder with SKILL.md) into the sources.

    Instructions, frontmatter and files are kept letter by letter. Scripts become texts that agents
    can read: nothing runs them. allowed-tools grants nothing. Nothing is overwritten.
    """
    from dcf.cli.skills_import import import_folder

    return import_folder(path, src, generated_folder(generated), dry_run=dry_run)


def export(
    refs: Annotated[
        list[str] | None, typer.Argument(metavar="[REF...]", help="Skills, as in tea.brew@^1.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the folders go.")] = Path(
        "agent-skills"
    ),
    everything: Annotated[
        bool, typer.Option("--all", help="The newest version of every skill.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write folders of skills that are there anew.")
    ] = False,
    src: SourceOption = DEFAULT_SOURCE,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Write skills as folders that any client of Agent Skills reads.

    What the public format has no place for goes into its metadata and into dcf.manifest.json, its
    tests into dcf.tests.json, the tools with their cases (from --src) into dcf.tools.json.
    """
    from dcf.cli.skills_export import ExportOrder, export_skills

    order = ExportOrder(
        tuple(refs or ()), out, generated_folder(generated), src, everything, replace
    )
    return export_skills(order)


def diff(
    before: Annotated[
        str,
        typer.Argument(metavar="A", help="Skill, manifest file, folder with SKILL.md, or tree."),
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, later.")],
    check: Annotated[
        bool, typer.Option("--check", help="Fail when a version went up too little.")
    ] = False,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Say what changed between two skills or trees, and which version that asks for.

    A tree is a generated folder or a folder of sources. Each change has its bump and the reason.
    """
    from dcf.cli.skills_diff import diff_skills

    return diff_skills(before, after, generated_folder(generated), check=check)


def lock(
    servers: Annotated[
        list[str] | None,
        typer.Option(
            "--server",
            metavar="ID",
            help="Ask only this server; may be repeated.",
            show_default="all that are not on the stub",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail when something changed.")
    ] = False,
    src: SourceOption = DEFAULT_SOURCE,
    as_json: JsonOption = False,
) -> Answer:
    """Ask the tool servers for their schemas and write them to tools.lock.json.

    Generating pins them: a tool whose server announces another schema later is refused. What was
    locked of servers that do not answer stays.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.skills_lock import LockOrder, lock_tools

    return lock_tools(LockOrder(src, tuple(servers or ()), check), Settings.from_env(os.environ))
