"""``memory``: finding what is remembered, what was changed, and the way back."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import (
    ReasonOption,
    SureOption,
)


def register_past(memory: typer.Typer) -> None:
    """Add ``search``, ``history`` and ``rollback``."""
    command(
        memory,
        "search",
        example=["dcf memory search 'what does she drink' --agent ada --kind block"],
    )(search)
    command(
        memory,
        "history",
        example=["dcf memory history", "dcf memory history ada human"],
    )(history)
    command(
        memory,
        "rollback",
        example=[
            "dcf memory rollback ada --block human --to 12 --dry-run",
            "dcf memory rollback --event 15 --yes",
            "dcf memory rollback --event 15-18 --dry-run",
            "dcf memory rollback --consolidation consolidation-8c2e… --yes",
        ],
    )(rollback)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or a question.")],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent", metavar="AGENT", help="Only what this one remembers; may be repeated."
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help="Only message, passage, block, observation or thread; may be repeated.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", metavar="LABEL", help="Only blocks of this label."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only passages with this tag.")
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--k",
            min=1,
            max=1000,
            help="At most so many.",
            show_default="10, with --budget 200",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=0,
            max=1_000_000,
            help="Print what was found as a context for a model, of at most so many tokens.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", help="Only from then on: yesterday, last week, 2026-11-27 …"
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Only until then, its last day included."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Find what agents remember, what was observed and turns of threads, by words and meaning.

    Each text comes with what its score is made of, or, with --budget, with its address: messages
    under the conversation that they are part of, in its order. Without any word in the QUERY: the
    newest texts.
    """
    from dcf.cli.memory.search import SearchQuestion, search_memory
    from dcf.cli.settings import Settings

    asked = SearchQuestion(
        query,
        tuple(agent or ()),
        tuple(kind or ()),
        tuple(label or ()),
        tuple(tag or ()),
        k,
        since,
        until,
        budget,
    )
    return asyncio.run(search_memory(Settings.from_env(os.environ), asked))


def history(
    agent: Annotated[
        str | None,
        typer.Argument(metavar="[AGENT]", help="Of this one, which may be gone; else of all."),
    ] = None,
    label: Annotated[
        str | None, typer.Argument(metavar="[LABEL]", help="Only of this block.")
    ] = None,
    consolidation: Annotated[
        str | None, typer.Option("--consolidation", metavar="ID", help="Only what it did.")
    ] = None,
    before: Annotated[
        int | None, typer.Option("--before", metavar="EVENT", help="Only older ones.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 20,
    as_json: JsonOption = False,
) -> Answer:
    """Show who changed what and why, newest first.

    Each change comes with the lines before and after it.
    """
    from dcf.cli.memory.history import HistoryQuestion, show_history
    from dcf.cli.settings import Settings

    asked = HistoryQuestion(agent, label, consolidation, before, limit)
    return asyncio.run(show_history(Settings.from_env(os.environ), asked))


def rollback(
    agent: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="Whose memory; it may be gone.")
    ] = None,
    block: Annotated[
        str | None, typer.Option("--block", metavar="LABEL", help="Only this block.")
    ] = None,
    to: Annotated[
        int | None,
        typer.Option("--to", metavar="EVENT", min=0, help="As it was just after this event."),
    ] = None,
    consolidation: Annotated[
        str | None, typer.Option("--consolidation", metavar="ID", help="All that it did.")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(
            "--event",
            metavar="EVENT",
            help="Only this change, or those from one to another (15-18); may be repeated.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; say what would go back.")
    ] = False,
    reason: ReasonOption = "",
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Take back what was changed, as far as it is asked.

    Of an agent or its block since an event, of a consolidation, or single changes. What somebody
    changed since is never overwritten: then nothing goes back, and all that is in the way is
    listed. A rollback is a change too, and can be taken back.
    """
    from dcf.cli.memory.rollback import RollbackOrder, roll_back, stretches_in
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    meant = [agent is not None, consolidation is not None, bool(event)]
    if sum(meant) != 1:
        raise typer.BadParameter(
            "say one of AGENT with --to, --consolidation and --event", param_hint="rollback"
        )
    if (agent is None) != (to is None):
        raise typer.BadParameter("it belongs to AGENT, and AGENT needs it", param_hint="--to")
    if block is not None and agent is None:
        raise typer.BadParameter("it belongs to AGENT", param_hint="--block")
    order = RollbackOrder(
        agent, block, to or 0, consolidation, stretches_in(event or ()), dry_run, sure, reason
    )
    return asyncio.run(roll_back(Settings.from_env(os.environ), order, Screen(as_json=as_json)))
