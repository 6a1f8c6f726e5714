"""``skills``: writing, checking, generating and finding skills."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.skills_exchange import register_exchange
from dcf.cli.commands.skills_folders import (
    DEFAULT_SOURCE,
    GeneratedOption,
    SourceOption,
    generated_folder,
)
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK


def register(app: typer.Typer) -> None:
    """Add the group ``skills`` with its commands."""
    skills = typer.Typer(
        help="Skills and tools: write, check, generate, find.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        skills,
        "new",
        example="dcf skills new tea.brew --server kettle --tool boil --tool pour",
        exits=(OK, BAD_INPUT),
    )(new)
    command(
        skills, "validate", example="dcf skills validate --src skills_src", exits=(OK, BAD_INPUT)
    )(validate)
    command(
        skills,
        "generate",
        example=["dcf skills generate", "dcf skills generate --check"],
        exits=(OK, FAILED, BAD_INPUT),
    )(generate)
    command(skills, "watch", example="dcf skills watch", exits=(OK, BAD_INPUT))(watch)
    command(
        skills,
        "list",
        example="dcf skills list --tag payments --risk high",
        exits=(OK, BAD_INPUT),
    )(list_all)
    command(
        skills,
        "show",
        example="dcf skills show support.refund_order@^1",
        exits=(OK, BAD_INPUT),
    )(show)
    command(
        skills,
        "test",
        example=[
            "dcf skills test",
            "dcf skills test orders.price_order --coverage --junit report.xml",
            "dcf skills test --tool pricing:apply_discount --case spring_code",
        ],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(test)
    command(
        skills,
        "search",
        example=[
            'dcf skills search "refund a customer"',
            'dcf skills search "track a parcel" --risk low --tag delivery --json',
        ],
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(search)
    register_exchange(skills)
    app.add_typer(skills, name="skills")


def validate(src: SourceOption = DEFAULT_SOURCE, as_json: JsonOption = False) -> Answer:
    """Check the sources of skills, tools and registry.

    Every problem with its place, rule and hint.
    """
    from dcf.cli.skills import check_sources

    return check_sources(src)


def generate(
    src: SourceOption = DEFAULT_SOURCE,
    generated: GeneratedOption = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail when something would change.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Generate what runs from the sources.

    Manifests, catalog, registry, stub configuration, tests, schemas and lock; with errors nothing
    changes.
    """
    from dcf.cli.skills import check_up_to_date
    from dcf.cli.skills import generate as generate_sources

    folder = generated_folder(generated)
    return check_up_to_date(src, folder) if check else generate_sources(src, folder)


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As in tea.brew.")],
    server: Annotated[
        str | None, typer.Option("--server", metavar="ID", help="The server of its tools.")
    ] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option("--tool", metavar="NAME", help="A tool it calls; made if no file has it."),
    ] = None,
    description: Annotated[str, typer.Option("--description", help="When to use it.")] = "",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by.")] = None,
    risk: Annotated[str, typer.Option("--risk", help="low, medium or high.")] = "low",
    src: SourceOption = DEFAULT_SOURCE,
    as_json: JsonOption = False,
) -> Answer:
    """Begin a skill.

    It is valid as it is written: with new tools come a tools file, its line in the index and its
    server in the registry, on the stub. Nothing is overwritten.
    """
    from dcf.cli.skills_new import order_skill, write_skill

    order = order_skill(
        name,
        server=server,
        tools=tool or (),
        description=description,
        tags=tag or (),
        risk=risk,
    )
    return write_skill(src, generated_folder(None), order)


def watch(
    src: SourceOption = DEFAULT_SOURCE,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Generate again whenever a source is saved.

    With errors the last good output stays. A running stub server follows by itself. Ctrl-C ends it.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.skills_watch import watch_sources

    return watch_sources(src, generated_folder(generated), Screen(as_json=as_json))


def list_all(
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only skills with this tag; may be repeated.")
    ] = None,
    risk: Annotated[
        str | None, typer.Option("--risk", help="Only this level: low, medium or high.")
    ] = None,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """List the generated skills."""
    from dcf.cli.skills_list import list_skills

    return list_skills(generated_folder(generated), tag or (), risk)


def show(
    ref: Annotated[
        str, typer.Argument(metavar="SKILL", help="As in tea.brew, tea.brew@^1 or a manifestId.")
    ],
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show a skill: directives, tools with their arguments, permissions, data, complexity."""
    from dcf.cli.skills_show import show_skill

    return show_skill(generated_folder(generated), ref)


def test(
    refs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REF...]", help="Skills, as in orders.quote@1.0.0; all if none."),
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option("--tool", metavar="TOOL", help="Only this tool: server:tool or its name."),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option("--case", metavar="ID", help="Only cases of this id; default is one too."),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help="Test this server: a stub's address, or a real server's with its path.",
            show_default="a stub of its own on a free port",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write a JUnit report.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Show tools and cases reached, by skill.")
    ] = False,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Call every case of the skills' tools and compare the answers.

    Over MCP, with arguments made for each case. Then the tests written in the skills. A case that
    no call can reach is a failure, with its reason.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.skills_test import TestOrder, run_skill_tests
    from dcf.skill_tests import Choice

    settings = Settings.from_env(os.environ)
    choice = Choice(tuple(refs or ()), tuple(tools or ()), tuple(cases or ()))
    order = TestOrder(choice, generated or settings.generated, url, junit, coverage, as_json)
    return asyncio.run(run_skill_tests(order, settings))


def search(
    query: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be done, in words.")],
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="How many at most.")] = 5,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only skills with this tag; may be repeated.")
    ] = None,
    risk: Annotated[
        str | None, typer.Option("--risk", help="At most this risk: low, medium or high.")
    ] = None,
    egress: Annotated[
        str | None,
        typer.Option("--egress", help="At most this reach: none, intranet or internet."),
    ] = None,
    version: Annotated[
        str | None, typer.Option("--version", metavar="RANGE", help="Only versions in this range.")
    ] = None,
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="Not only the newest of each skill.")
    ] = False,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find skills by what is to be done.

    By words and by meaning (DCF_EMBEDDER: wordllama, minilm or none), with the reason and the
    tokens that loading costs. The score, about 0 to 1, says how well one fits beside the others
    found; the nearest are shown even where none fits well. The index in DCF_HOME follows
    the folder.
    """
    from dcf.cli.settings import Settings
    from dcf.cli.skills_search import chosen_filters, search_skills

    settings = Settings.from_env(os.environ)
    filters = chosen_filters(tag or (), risk, egress, version, newest=not all_versions)
    folder = generated or settings.generated
    return search_skills(folder, settings.home, settings.embedder, query, k, filters)
