"""``memory``: skills of agents, consolidation, what the memory holds and what it can give up."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import AgentOrDefault, ReasonOption, SureOption


def register_tending(memory: typer.Typer) -> None:
    """Add ``skills``, ``consolidate``, ``stats`` and ``gc``."""
    command(
        memory,
        "skills",
        example=[
            "dcf memory skills ada --sync",
            "dcf memory skills ada --load brew-tea --unload pour-coffee",
            "dcf memory skills ada --folder .skills --watch",
        ],
    )(skills)
    command(
        memory,
        "consolidate",
        example=[
            "dcf memory consolidate ada --analyse",
            "dcf memory consolidate ada --dry-run",
            "dcf memory consolidate --watch --interval 300",
        ],
    )(consolidate)
    command(
        memory,
        "receipts",
        example=["dcf memory receipts", "dcf memory receipts receipt-5d1f… --about 'Ann Miller'"],
    )(receipts)
    command(memory, "stats", example=["dcf memory stats", "dcf memory stats --agents 5 --json"])(
        stats
    )
    command(
        memory,
        "gc",
        example=["dcf memory gc --dry-run", "dcf memory gc --keep-days events=30 --yes"],
    )(gc)


def skills(
    agent: AgentOrDefault = "@default",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder",
            metavar="DIR",
            help="Where the skills are.",
            show_default="that of the agent's session, or .skills of the project",
        ),
    ] = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Take in what is in the folder now.")
    ] = False,
    load: Annotated[
        list[str] | None,
        typer.Option("--load", metavar="NAME", help="Put its instructions before the agent."),
    ] = None,
    unload: Annotated[
        list[str] | None, typer.Option("--unload", metavar="NAME", help="Take them away again.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Take in every change of the folder, until Ctrl-C.")
    ] = False,
    reason: ReasonOption = "",
    as_json: JsonOption = False,
) -> Answer:
    """List, take in, load and unload an agent's skills.

    A skill is a folder with SKILL.md. What the agent knows stands in its block skills, what is
    loaded in loaded_skills. Nothing in the folder is run.
    """
    from dcf.cli.memory.skills import SkillsOrder, tend_skills, watch_skills
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if watch and (sync or load or unload):
        raise typer.BadParameter("it stands alone: it begins with a sync", param_hint="--watch")
    if folder is not None and not (sync or watch):
        raise typer.BadParameter("it is for --sync and --watch", param_hint="--folder")
    settings = Settings.from_env(os.environ)
    if watch:
        return asyncio.run(watch_skills(settings, agent, folder, Screen(as_json=as_json)))
    order = SkillsOrder(folder, sync, tuple(load or ()), tuple(unload or ()), reason)
    return asyncio.run(tend_skills(settings, agent, order))


def consolidate(
    agent: Annotated[
        str | None,
        typer.Argument(metavar="[AGENT]", help="Only this one.", show_default="all with sleeptime"),
    ] = None,
    look: Annotated[
        bool, typer.Option("--analyse", help="Change nothing; say what takes room.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; say what would be done.")
    ] = False,
    past: Annotated[
        bool, typer.Option("--history", help="List consolidations, newest first.")
    ] = False,
    undo: Annotated[
        str | None, typer.Option("--rollback", metavar="ID", help="Undo this consolidation.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Whenever agents are idle, until Ctrl-C.")
    ] = False,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="merge, summarize, archive or compress; may be repeated.",
            show_default="all",
        ),
    ] = None,
    level: Annotated[
        int, typer.Option("--level", min=0, max=9, help="How much is done for less room.")
    ] = 5,
    rules: Annotated[
        bool,
        typer.Option("--rules", help="By rule, even if DCF_MODEL names a model that could write."),
    ] = False,
    token_budget: Annotated[
        int,
        typer.Option("--token-budget", min=0, help="What a model may use for each agent."),
    ] = 100_000,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", min=1, help="With --watch: how often.")
    ] = 300.0,
    idle: Annotated[
        float,
        typer.Option("--idle", metavar="SECONDS", min=0, help="With --watch: idle for so long."),
    ] = 60.0,
    limit: Annotated[int, typer.Option("--limit", min=1, help="List at most so many.")] = 20,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Put memories in order: say less twice, and keep it all.

    Blocks are merged and shortened, old messages leave the context; what leaves a block goes into
    the archive. Each consolidation is whole or not there, and can be undone.
    """
    from dcf.cli.memory import consolidate as work
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.memory.consolidation import STRATEGIES, ConsolidationSettings, SchedulerSettings

    ways = {"--analyse": look, "--history": past, "--rollback": undo is not None, "--watch": watch}
    said = [option for option, given in ways.items() if given]
    if len(said) > 1:
        raise typer.BadParameter("one of them at most", param_hint=", ".join(said))
    if dry_run and (look or past or watch):
        raise typer.BadParameter("nothing is changed there anyway", param_hint="--dry-run")
    if agent is not None and (undo is not None or watch):
        raise typer.BadParameter("it names no agent", param_hint=said[0])
    unknown = [one for one in strategy or () if one not in STRATEGIES]
    if unknown:
        known = ", ".join(STRATEGIES)
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {known}", param_hint="--strategy")
    settings, screen = Settings.from_env(os.environ), Screen(as_json=as_json)
    how = ConsolidationSettings(level=level, token_budget=token_budget)
    if look:
        return asyncio.run(work.analyse(settings, agent or "@default", how))
    if past:
        return asyncio.run(work.list_sessions(settings, agent, limit))
    if undo is not None:
        return asyncio.run(work.undo_session(settings, undo, screen, dry_run=dry_run, sure=sure))
    if watch:
        when = SchedulerSettings(interval_s=interval, idle_s=idle)
        return asyncio.run(work.watch(settings, how, when, screen, rules=rules))
    chosen = tuple(one for one in STRATEGIES if one in (strategy or STRATEGIES))
    order = work.ConsolidationOrder(agent, how, chosen, dry_run, rules)
    return asyncio.run(work.consolidate(settings, order, screen))


def stats(
    agents: Annotated[
        int, typer.Option("--agents", min=0, help="In detail of so many agents.")
    ] = 20,
    blocks: Annotated[int, typer.Option("--blocks", min=0, help="And of so many blocks.")] = 10,
    as_json: JsonOption = False,
) -> Answer:
    """Show how much the memory holds, and where."""
    from dcf.cli.memory.stats import show_stats
    from dcf.cli.settings import Settings

    return asyncio.run(show_stats(Settings.from_env(os.environ), agents=agents, blocks=blocks))


def receipts(
    receipt_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="This one, and whether it still holds.")
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            "--about", metavar="TEXT|-", help="What was forgotten: whether anything names it now."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what was forgotten for good, and check that it stays so.

    A receipt does not say what it is about. With --about everything is looked through for it again.
    """
    from dcf.cli.memory.given_text import given_text
    from dcf.cli.memory.receipts import check_receipt, list_receipts
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    if receipt_id is None:
        if about is not None:
            raise typer.BadParameter("name the receipt", param_hint="--about")
        return asyncio.run(list_receipts(settings))
    text = None if about is None else given_text(about)
    screen = Screen(as_json=as_json)
    return asyncio.run(check_receipt(settings, receipt_id, text, screen))


def gc(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; say what would go.")
    ] = False,
    keep_days: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-days",
            metavar="KIND=DAYS",
            help=(
                "How long: events, letters, turns, sessions, scratch-pads, consolidations,"
                " orphan-blocks or archived-messages, for so many days or ever; may be repeated."
            ),
            show_default="events=180, letters=30, turns=90, sessions=90, scratch-pads=30,"
            " consolidations=180, orphan-blocks=30, archived-messages=ever",
        ),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option(
            "--most",
            metavar="KIND=NUMBER",
            help=(
                "How much: events, passages (of each agent) or bytes (of the file, by giving up"
                " history); may be repeated."
            ),
            show_default="events=1000000",
        ),
    ] = None,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Give up what is kept no longer: old history, ended turns.

    Nothing that agents still remember goes unless --most passages or --keep-days archived-messages
    says so. History that was given up cannot be rolled back.
    """
    from dcf.cli.memory.collecting import collect, retention_of
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    retention = retention_of(keep_days or (), most or ())
    screen = Screen(as_json=as_json)
    settings = Settings.from_env(os.environ)
    return asyncio.run(collect(settings, retention, screen, dry_run=dry_run, sure=sure))
