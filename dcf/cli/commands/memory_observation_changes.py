"""``memory observations``: changing what was seen."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import ReasonOption
from dcf.cli.commands.observation_choice import TopicOption, choosing

if TYPE_CHECKING:
    from dcf.memory import ObservationChoice

IdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID…", help="Ids, their beginnings, or addresses.")
]


def register_changes(observations: typer.Typer) -> None:
    """Add ``forget``, ``pin``, ``unpin``, ``edit`` and ``promote``."""
    command(
        observations,
        "forget",
        example=[
            "dcf memory observations forget 21d186d3 29b43615",
            "dcf memory observations forget --workflow order-processing --until 2026-10-31",
            "dcf memory observations forget --topic 'declined card' --yes",
        ],
    )(forget)
    command(observations, "pin", example=["dcf memory observations pin 21d186d3"])(pin)
    command(observations, "unpin", example=["dcf memory observations unpin 21d186d3"])(unpin)
    command(
        observations,
        "edit",
        example=[
            "dcf memory observations edit 21d186d3 --title 'The gateway is busy at noon'",
            "dcf memory observations edit 21d186d3 --fact 'one' --fact 'another'",
        ],
    )(edit)
    command(
        observations,
        "promote",
        example=[
            "dcf memory observations promote 21d186d3 --block project --dry-run",
            "dcf memory observations promote 21d186d3 29b43615 --block project --agent ada",
        ],
    )(promote)


@choosing(but=["days"], topic=(TopicOption, None))
def forget(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID…]", help="Ids, their beginnings, or addresses."),
    ] = None,
    *,
    choice: ObservationChoice,
    sure: Annotated[
        bool, typer.Option("--yes", help="Forget them; without it they are only shown.")
    ] = False,
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> Answer:
    """Forget observations: these ids, or what the filters leave.

    Without --yes nothing changes, and what would go is shown. Filters are of all days, and one of
    them is needed; what is pinned is forgotten by its id only. No list, search or context has what
    is forgotten, and no worker adds it again from a run that it has looked at. `dcf memory
    rollback` brings it back.
    """
    from dcf.cli.memory.observation_changes import ForgettingOrder, forget_observations
    from dcf.cli.memory.observations import ObservationsQuestion
    from dcf.cli.settings import Settings

    asked = ObservationsQuestion(choice)
    order = ForgettingOrder(tuple(ids or ()), asked, sure, reason)
    return asyncio.run(forget_observations(Settings.from_env(os.environ), order))


def pin(ids: IdsArgument, reason: ReasonOption = "", as_json: JsonOption = False) -> Answer:
    """Pin observations: contexts have them before others, however old they are.

    They count towards the same tokens and rows as others. The filters of
    `dcf memory observations forget` leave them.
    """
    return _pin(ids, reason, pinned=True)


def unpin(ids: IdsArgument, reason: ReasonOption = "", as_json: JsonOption = False) -> Answer:
    """Unpin observations: contexts have them as they have others."""
    return _pin(ids, reason, pinned=False)


def _pin(ids: list[str], reason: str, *, pinned: bool) -> Answer:
    from dcf.cli.memory.observation_changes import pin_observations
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    return asyncio.run(pin_observations(settings, ids, pinned=pinned, reason=reason))


def edit(
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="Its id, the beginning of it, or its address.")
    ],
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="One line, 120 characters.")
    ] = None,
    subtitle: Annotated[
        str | None, typer.Option("--subtitle", metavar="TEXT", help="What it is in a sentence.")
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option("--fact", metavar="TEXT", help="In place of all its facts; may be repeated."),
    ] = None,
    no_facts: Annotated[bool, typer.Option("--no-facts", help="Take its facts away.")] = False,
    narrative: Annotated[
        str | None,
        typer.Option("--narrative", metavar="TEXT|-", help="The rest; - is standard input."),
    ] = None,
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> Answer:
    """Change what an observation says.

    Where it is from stays, and runs that show what it said before are counted with it. Secrets are
    taken out as everywhere. `dcf memory rollback` takes it back.
    """
    from dcf.cli.memory.observation_changes import edit_observation
    from dcf.cli.settings import Settings
    from dcf.memory import Texts

    if fact and no_facts:
        raise typer.BadParameter("say one of --fact and --no-facts", param_hint="--no-facts")
    facts = tuple(fact) if fact else () if no_facts else None
    texts = Texts(title, subtitle, facts, narrative)
    settings = Settings.from_env(os.environ)
    return asyncio.run(edit_observation(settings, id_, texts, reason))


def promote(
    ids: IdsArgument,
    block: Annotated[
        str, typer.Option("--block", metavar="LABEL", help="The block that is to say them.")
    ],
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Whose block, by name or id.",
            show_default="that of this project",
        ),
    ] = "@default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show it.")] = False,
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> Answer:
    """Put all that observations say into a memory block, each with its address.

    Agents receive observations of their own project and workflow only, but a block in any project
    and workflow, if they have it. What the block says already is not added again, and what exceeds
    its limit is refused. `dcf memory rollback` takes it back.
    """
    from dcf.cli.memory.observation_changes import PromotionOrder, promote_observations
    from dcf.cli.settings import Settings

    order = PromotionOrder(tuple(ids), block, agent, dry_run, reason)
    return asyncio.run(promote_observations(Settings.from_env(os.environ), order))
