"""``memory``: what was seen, and what of it agents are told."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_observation_changes import register_changes
from dcf.cli.commands.memory_options import LimitOption
from dcf.cli.commands.observation_choice import PinnedOption, choosing

if TYPE_CHECKING:
    from dcf.memory import ObservationChoice


def register_observations(memory: typer.Typer) -> typer.Typer:
    """Add the group ``observations``, and ``context``; the group."""
    observations = typer.Typer(
        help="What runs, sessions and threads showed: an index, single ones, and changing them.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    command(
        observations,
        "list",
        example=[
            "dcf memory observations list",
            "dcf memory observations list --type bugfix --days 7 --format full",
            "dcf memory observations list --source-id my-order --json",
        ],
    )(list_)
    command(observations, "get", example=["dcf memory observations get 21d186d3"])(get)
    command(
        observations,
        "search",
        example=["dcf memory observations search 'why was the payment retried' --days 7"],
    )(search)
    command(
        observations,
        "timeline",
        example=[
            "dcf memory observations timeline 21d186d3",
            "dcf memory observations timeline 2026-11-27 --each 20",
        ],
    )(timeline)
    register_changes(observations)
    memory.add_typer(observations, name="observations")
    command(
        memory,
        "context",
        example=[
            "dcf memory context",
            "dcf memory context --for state my-order/ShipOrder --mode full --budget 3800",
        ],
    )(context)
    return observations


@choosing(pinned=(PinnedOption, False))
def list_(
    choice: ObservationChoice,
    format_: Annotated[
        str, typer.Option("--format", metavar="index|full", help="One row for each, or all of it.")
    ] = "index",
    before: Annotated[
        str | None, typer.Option("--before", metavar="ID", help="Only those behind this one.")
    ] = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
) -> Answer:
    """List what was seen, the newest first.

    What several runs showed in the same words is one row that counts them. The id of a row is for
    `dcf memory observations get`, which also has what each run said of it.
    """
    from dcf.cli.memory.observations import ObservationsQuestion, list_observations
    from dcf.cli.settings import Settings

    asked = ObservationsQuestion(choice, format_, before, limit)
    return asyncio.run(list_observations(Settings.from_env(os.environ), asked))


def get(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Ids, their beginnings, or addresses.")
    ],
    as_json: JsonOption = False,
) -> Answer:
    """Show all of some observations.

    With each time that they were seen, its address, and what that run alone said: this is for
    people, no agent is told it.
    """
    from dcf.cli.memory.observations import get_observations
    from dcf.cli.settings import Settings

    return asyncio.run(get_observations(Settings.from_env(os.environ), ids))


@choosing(pinned=(PinnedOption, False))
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or a question.")],
    choice: ObservationChoice,
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="At most so many.")] = 20,
    as_json: JsonOption = False,
) -> Answer:
    """Find observations by words and meaning, as an index.

    Without any word in the QUERY: the newest ones.
    """
    from dcf.cli.memory.observations import ObservationsQuestion, search_observations
    from dcf.cli.settings import Settings

    asked = ObservationsQuestion(choice, limit=k)
    return asyncio.run(search_observations(Settings.from_env(os.environ), query, asked))


@choosing(but=["source", "source_id", "turn", "since", "until", "days"])
def timeline(
    point: Annotated[
        str, typer.Argument(metavar="POINT", help="Id of an observation, its address, or a DATE.")
    ],
    each: Annotated[
        int, typer.Option("--each", metavar="N", min=1, max=500, help="So many before and after.")
    ] = 5,
    *,
    choice: ObservationChoice,
    as_json: JsonOption = False,
) -> Answer:
    """Show what was seen before and after an observation or a moment."""
    from dcf.cli.memory.observations import ObservationsQuestion, show_timeline
    from dcf.cli.settings import Settings

    asked = ObservationsQuestion(choice)
    return asyncio.run(show_timeline(Settings.from_env(os.environ), point, asked, each))


def context(
    whose: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--for",
            metavar="KIND ID",
            help="A run, a state (RUN/STATE), a session or an agent.",
            show_default="the next run of the workflow that was seen last in this project",
        ),
    ] = None,
    workflow: Annotated[
        str | None,
        typer.Option("--workflow", metavar="NAME", help="The next run of this workflow."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=0,
            max=1_000_000,
            help="At most so many.",
            show_default="DCF_CONTEXT_INDEX, and DCF_CONTEXT_DETAILS with --mode full",
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="off|index|full", show_default="DCF_CONTEXT, else index"),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what an agent would be told of what was seen, and what each part costs.

    Workers tell it to the agents of the same project and workflow. Runs of other workflows are not
    told. The project of a run is here, as for the workers that are started here: the folder in
    which the skills are generated.
    """
    from dcf.cli.memory.context import ContextQuestion, show_context
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if whose is not None and workflow is not None:
        raise typer.BadParameter("say one of --for and --workflow", param_hint="--workflow")
    kind, id_ = whose or (None, None)
    asked = ContextQuestion(kind, id_, workflow, budget, mode)
    screen = Screen(as_json=as_json)
    return asyncio.run(show_context(Settings.from_env(os.environ), asked, screen))
