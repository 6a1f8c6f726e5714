"""``retrieval playbooks``: errors that were seen before, and what to do about them."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.retrieval import RootOption, here

IdArgument = Annotated[str, typer.Argument(metavar="PLAYBOOK", help="Its id, or its address.")]
IdsArgument = Annotated[list[str], typer.Argument(metavar="PLAYBOOK...", help="Ids, or addresses.")]
ResolutionOption = Annotated[
    str | None,
    typer.Option("--resolution", metavar="TEXT", help="What to do about it; - reads stdin."),
]
OwnerOption = Annotated[
    str | None, typer.Option("--owner", metavar="NAME", help="The person or team to ask.")
]
PatternOption = Annotated[
    str | None, typer.Option("--pattern", metavar="TEXT", help="The text of the error.")
]
RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="ID", help="The run in which it was tried: counted once."),
]
StaleOption = Annotated[
    int,
    typer.Option(
        "--stale-after", metavar="DAYS", min=1, max=36_500, help="So long one is trusted."
    ),
]
_STALE_DAYS = 180


def register_playbooks(retrieval: typer.Typer) -> None:
    """Add the group ``playbooks`` with its commands."""
    group = typer.Typer(
        help="Errors that were seen before, what to do about them, and who to ask.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    add_example = [
        "dcf retrieval playbooks add 'ProviderBusy: HTTP 503' --resolution 'Wait, try again.'",
        "dcf retrieval playbooks add --from observation-21d186d3 --owner payments",
    ]
    command(group, "add", example=add_example, prose=True)(add)
    list_example = ["dcf retrieval playbooks list", "dcf retrieval playbooks list --stale --json"]
    command(group, "list", example=list_example)(list_)
    show_example = "dcf retrieval playbooks show dcf://playbook/playbook-4f0c"
    command(group, "show", example=show_example)(show)
    match_example = [
        "dcf retrieval playbooks match 'ProviderBusy: HTTP 503 (request 9f8a)'",
        "pytest 2>&1 | dcf retrieval playbooks match -",
    ]
    command(group, "match", example=match_example, prose=True)(match)
    helped_example = "dcf retrieval playbooks helped playbook-4f0c --run my-order"
    command(group, "helped", example=helped_example)(helped)
    command(group, "failed", example="dcf retrieval playbooks failed playbook-4f0c")(failed)
    edit_example = "dcf retrieval playbooks edit playbook-4f0c --owner platform"
    command(group, "edit", example=edit_example)(edit)
    command(group, "remove", example="dcf retrieval playbooks remove playbook-4f0c")(remove)
    propose_example = [
        "dcf retrieval playbooks propose",
        "dcf retrieval playbooks propose --accept observation-21d186d3 --owner payments",
    ]
    command(group, "propose", example=propose_example)(propose)
    retrieval.add_typer(group, name="playbooks")


def add(
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="The text of the error; - reads stdin."),
    ] = None,
    resolution: ResolutionOption = None,
    owner: Annotated[
        str | None,
        typer.Option(
            "--owner", metavar="NAME", help="The person or team to ask.", show_default="you"
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="OBSERVATION",
            help="An observation that it is made of: what is not given is taken from it.",
        ),
    ] = None,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Keep an error, what to do about it and who to ask.

    A new error fits where it says three quarters of the pattern's words close together, and all of
    its codes (HTTP 503, errno 111, TS2339). Other numbers, ids, paths and addresses are not
    compared, nor are words that all errors have. Secrets are taken out first.
    """
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.playbooks import Given, add_playbook

    given = Given(
        None if pattern is None else given_text(pattern),
        None if resolution is None else given_text(resolution),
        owner,
    )
    return asyncio.run(add_playbook(*here(root), given, source))


def list_(
    everything: Annotated[bool, typer.Option("--all", help="Those of all projects.")] = False,
    stale: Annotated[bool, typer.Option("--stale", help="Only those that are stale.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Leave so many out first.")] = 0,
    stale_after: StaleOption = _STALE_DAYS,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """List playbooks, the newest first.

    One is stale that was not confirmed for long, or that failed in most of its last ten uses.
    """
    from dcf.cli.retrieval.playbooks import PlaybookPage, list_playbooks

    page = PlaybookPage(limit, offset, stale_after, everything=everything, stale_only=stale)
    return asyncio.run(list_playbooks(*here(root), page))


def show(
    playbook_id: IdArgument,
    stale_after: StaleOption = _STALE_DAYS,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show all of a playbook, with its last uses and the words that are compared."""
    from dcf.cli.retrieval.opening import memory_settings
    from dcf.cli.retrieval.playbooks import show_playbook

    settings, setting = here(root)
    settings = memory_settings(settings, setting.store)
    return asyncio.run(show_playbook(settings, playbook_id, stale_after))


def match(
    error: Annotated[
        str, typer.Argument(metavar="ERROR", help="Its text, or output that has it; - reads stdin.")
    ],
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 5,
    stale_after: StaleOption = _STALE_DAYS,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find the playbooks that fit an error, the best first, and say why they do."""
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.playbooks import match_playbooks

    return asyncio.run(match_playbooks(*here(root), given_text(error), limit, stale_after))


def helped(
    playbook_id: IdArgument,
    run: RunOption = None,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Count that a playbook's resolution helped, which confirms it."""
    from dcf.cli.retrieval.playbooks import count_use

    return asyncio.run(count_use(*here(root), playbook_id, run, helped=True))


def failed(
    playbook_id: IdArgument,
    run: RunOption = None,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Count that a playbook's resolution did not help."""
    from dcf.cli.retrieval.playbooks import count_use

    return asyncio.run(count_use(*here(root), playbook_id, run, helped=False))


def edit(
    playbook_id: IdArgument,
    pattern: PatternOption = None,
    resolution: ResolutionOption = None,
    owner: OwnerOption = None,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Have a playbook say something else. Without an option it is confirmed as it is."""
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.playbooks import Given, edit_playbook

    given = Given(pattern, None if resolution is None else given_text(resolution), owner)
    return asyncio.run(edit_playbook(*here(root), playbook_id, given))


def remove(
    playbook_ids: IdsArgument,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Remove playbooks, all of them or none. `dcf memory rollback` brings one back."""
    from dcf.cli.retrieval.playbooks import remove_playbooks

    return asyncio.run(remove_playbooks(*here(root), playbook_ids))


def propose(
    accept: Annotated[
        str | None,
        typer.Option("--accept", metavar="OBSERVATION", help="Make a playbook of this one."),
    ] = None,
    pattern: PatternOption = None,
    resolution: ResolutionOption = None,
    owner: OwnerOption = None,
    times: Annotated[
        int, typer.Option("--times", metavar="N", min=1, help="Seen at least so often.")
    ] = 3,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """List observations of errors that were got over again and again, and have no playbook yet.

    Nothing is kept unless --accept names one, with the --owner who answers for it.
    """
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.retrieval.playbooks import Given, accept_proposal, list_proposals

    if accept is None:
        return asyncio.run(list_proposals(*here(root), times))
    given = Given(pattern, None if resolution is None else given_text(resolution), owner)
    return asyncio.run(accept_proposal(*here(root), given, accept))
