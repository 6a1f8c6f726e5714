"""``memory``: what an agent remembers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import (
    AgentArgument,
    AgentOrDefault,
    ReasonOption,
    SureOption,
)

OnLimit: TypeAlias = Literal["warn", "truncate", "reject"]


def register_blocks(memory: typer.Typer) -> None:
    """Add ``remember``, ``forget`` and ``show``."""
    command(
        memory,
        "remember",
        example=[
            "dcf memory remember ada 'prefers tea'",
            "dcf memory remember ada 'prefers coffee' --replace 'prefers tea'",
            "dcf memory remember @default - --passage --tag minutes < minutes.txt",
        ],
    )(remember)
    command(
        memory,
        "forget",
        example=[
            "dcf memory forget ada 'prefers tea'",
            "dcf memory forget ada --block style --yes",
            "dcf memory forget ada --passage passage-5d1f… --yes",
            "dcf memory forget --about 'Ann Miller' --dry-run",
            "dcf memory forget --about 'Ann Miller' --receipt receipt.json --yes",
        ],
    )(forget)
    command(
        memory,
        "show",
        example=["dcf memory show", "dcf memory show ada human", "dcf memory show ada --context"],
    )(show)


def remember(
    agent: AgentArgument,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT|-",
            help="The text; - reads it from stdin; -- goes before one with a dash.",
        ),
    ],
    block: Annotated[
        str | None,
        typer.Option("--block", metavar="LABEL", help="Of which block.", show_default="human"),
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Add it as a new line, which is what happens anyway.")
    ] = False,
    replace: Annotated[
        str | None,
        typer.Option("--replace", metavar="OLD", help="Put it in place of this text."),
    ] = None,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Put it in place of the block's whole text.")
    ] = False,
    new: Annotated[bool, typer.Option("--new", help="Make a block of this label with it.")] = False,
    expected: Annotated[
        int | None,
        typer.Option("--expected", metavar="REVISION", help="Only if the block has this revision."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            metavar="BYTES",
            min=1,
            help="Give the block this hard limit; the soft one moves with it.",
        ),
    ] = None,
    soft_limit: Annotated[
        int | None,
        typer.Option(
            "--soft-limit", metavar="BYTES", min=1, help="Over it a write is kept with a warning."
        ),
    ] = None,
    on_limit: Annotated[
        OnLimit | None,
        typer.Option("--on-limit", help="What a write over the hard limit does."),
    ] = None,
    passage: Annotated[
        bool, typer.Option("--passage", help="Into the archive, which search finds.")
    ] = False,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A tag of the passage; may be repeated."),
    ] = None,
    salience: Annotated[
        float, typer.Option("--salience", min=0.0, max=1.0, help="How much the passage matters.")
    ] = 0.5,
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> Answer:
    """Keep a text: in a block, or in the archive.

    A block always stands before the agent; the archive is what search finds. Without --block and
    --passage TEXT becomes a new line of the block human.
    """
    from dcf.cli.memory.remember import DEFAULT_LABEL, Remembering
    from dcf.cli.memory.remember import remember as keep
    from dcf.cli.settings import Settings

    ways = {
        "--append": append,
        "--replace": replace is not None,
        "--rewrite": rewrite,
        "--new": new,
    }
    said = [option for option, given in ways.items() if given]
    if len(said) > 1:
        raise typer.BadParameter("one of them at most", param_hint=", ".join(said))
    changes = (block, expected, limit, soft_limit, on_limit)
    of_block = said or any(one is not None for one in changes)
    if passage and of_block:
        raise typer.BadParameter("a passage has no block", param_hint="--passage")
    if tag and not passage:
        raise typer.BadParameter("blocks have no tags", param_hint="--tag")
    if new and (block is None or expected is not None):
        raise typer.BadParameter(
            "say its label with --block, without --expected", param_hint="--new"
        )
    order = Remembering(
        text=text,
        label=block or DEFAULT_LABEL,
        old=replace,
        rewrite=rewrite,
        new=new,
        expected=expected,
        limit=limit,
        soft_limit=soft_limit,
        on_limit=on_limit,
        passage=passage,
        tags=tuple(tag or ()),
        salience=salience,
        reason=reason,
    )
    return asyncio.run(keep(Settings.from_env(os.environ), agent, order))


def forget(
    agent: Annotated[
        str | None,
        typer.Argument(metavar="[AGENT]", help="Name or id; @default is that of this project."),
    ] = None,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT|-]", help="A text that stands in the block once.")
    ] = None,
    block: Annotated[
        str | None,
        typer.Option(
            "--block", metavar="LABEL", help="Of which block; without TEXT the whole block."
        ),
    ] = None,
    passage: Annotated[
        str | None, typer.Option("--passage", metavar="ID", help="This passage of the archive.")
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Others who hold the block keep it.")
    ] = False,
    about: Annotated[
        str | None,
        typer.Option(
            "--about",
            metavar="TEXT|-",
            help="All that names TEXT, of all agents and in all stores, for good.",
        ),
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option("--receipt", metavar="FILE", help="With --about: write its receipt there."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --about: say what would go, and where.")
    ] = False,
    reason: ReasonOption = "",
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Take a text, a block or a passage out of a memory, or all that names a person or a thing.

    It says what is lost and how it comes back. TEXT without --block is of the block human. What
    --about takes does not come back: entries that name TEXT (these words, in capitals or not) go
    from the memory and from where items are logged, and their history keeps digests. The receipt
    says what went where and what was not reached; `dcf memory receipts` shows it again.
    """
    if about is not None:
        given = {"AGENT": agent, "TEXT": text, "--block": block, "--passage": passage}
        for name, value in {**given, "--detach": detach or None}.items():
            if value is not None:
                raise typer.BadParameter("--about is of all agents", param_hint=name)
        return _forget_about(about, reason, receipt, dry_run=dry_run, sure=sure, as_json=as_json)
    if receipt is not None or dry_run:
        name = "--dry-run" if dry_run else "--receipt"
        raise typer.BadParameter("it is for --about", param_hint=name)
    if agent is None:
        raise typer.BadParameter("say whose memory, or --about TEXT", param_hint="[AGENT]")
    from dcf.cli.memory.forget import Forgetting
    from dcf.cli.memory.forget import forget as drop
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if passage is not None and (text is not None or block is not None):
        raise typer.BadParameter("it is named alone", param_hint="--passage")
    if passage is None and text is None and block is None:
        raise typer.BadParameter("say what: TEXT, --block or --passage", param_hint="[TEXT|-]")
    if detach and (block is None or text is not None):
        raise typer.BadParameter("it is for a whole block", param_hint="--detach")
    order = Forgetting(text, block, passage, detach, reason, sure)
    screen = Screen(as_json=as_json)
    return asyncio.run(drop(Settings.from_env(os.environ), agent, order, screen))


def _forget_about(
    text: str, reason: str, receipt: Path | None, *, dry_run: bool, sure: bool, as_json: bool
) -> Answer:
    from dcf.cli.memory.forget_about import About, forget_about
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    order = About(given_text(text), reason, receipt, dry_run, sure)
    screen = Screen(as_json=as_json)
    return asyncio.run(forget_about(Settings.from_env(os.environ), order, screen))


def show(
    agent: AgentOrDefault = "@default",
    label: Annotated[
        str | None, typer.Argument(metavar="[LABEL]", help="Only this block, whole.")
    ] = None,
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="EVENT", min=0, help="The block's text after this event."),
    ] = None,
    context: Annotated[
        bool, typer.Option("--context", help="What the agent sees, with token counts.")
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=1,
            help="Room for the context.",
            show_default="the agent's window",
        ),
    ] = None,
    messages: Annotated[bool, typer.Option("--messages", help="The conversation.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many messages.")] = 20,
    as_json: JsonOption = False,
) -> Answer:
    """Show an agent's blocks, context or conversation."""
    from dcf.cli.memory import show as work
    from dcf.cli.settings import Settings

    if context + messages + (label is not None) > 1:
        raise typer.BadParameter("one of LABEL, --context and --messages", param_hint="show")
    if at is not None and label is None:
        raise typer.BadParameter("it is for one block: name its LABEL", param_hint="--at")
    settings = Settings.from_env(os.environ)
    if context:
        return asyncio.run(work.show_context(settings, agent, budget))
    if messages:
        return asyncio.run(work.show_messages(settings, agent, limit))
    if label is not None:
        return asyncio.run(work.show_block(settings, agent, label, at))
    return asyncio.run(work.show_blocks(settings, agent))
