"""``memory``: agents, and their settings."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.memory_options import (
    DescriptionOption,
    EmbedderOption,
    ModelOption,
    ParallelOption,
    ReasonOption,
    SleeptimeOption,
    SureOption,
    SystemOption,
    WindowOption,
)


def register_agents(memory: typer.Typer) -> None:
    """Add ``init`` and ``agents``."""
    command(
        memory,
        "init",
        example=[
            "dcf memory init",
            "dcf memory init ada --template companion --model openai:gpt-5-mini",
        ],
    )(init)
    command(
        memory,
        "agents",
        example=[
            "dcf memory agents --tag support",
            "dcf memory agents ada --model anthropic:claude-sonnet-4-5 --add-tag support",
            "dcf memory agents --delete ada",
        ],
    )(agents)


def init(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[AGENT]",
            help="Name of the agent; without it the last one of this project, or a new one.",
        ),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option("--template", metavar="NAME", help="Make it from this template."),
    ] = None,
    block: Annotated[
        list[str] | None,
        typer.Option(
            "--block",
            metavar="LABEL",
            help="Give it this block; may be repeated.",
            show_default="those of the template, or of the known labels",
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag to find it by.")
    ] = None,
    skills: Annotated[
        Path | None,
        typer.Option("--skills", metavar="DIR", help="Where its skills are, as in .skills."),
    ] = None,
    description: DescriptionOption = None,
    model: ModelOption = None,
    embedder: EmbedderOption = None,
    system: SystemOption = None,
    context_window: WindowOption = None,
    parallel_tool_calls: ParallelOption = None,
    sleeptime: SleeptimeOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Make the memory, and an agent to work with in this project.

    The project is the current folder, or the nearest above it that is one. The same again changes
    nothing: an agent that is there is used, with the settings that are given.
    """
    from dcf.cli.memory.agent_settings import AgentSettings
    from dcf.cli.memory.init import InitOrder
    from dcf.cli.memory.init import init as init_memory
    from dcf.cli.settings import Settings

    chosen = AgentSettings(
        description, model, embedder, system, context_window, parallel_tool_calls, sleeptime
    )
    order = InitOrder(name, chosen, template, tuple(tag or ()), tuple(block or ()), skills)
    return asyncio.run(init_memory(Settings.from_env(os.environ), order))


def agents(
    name: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="Show this one, or change it.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="List those with this tag; may be repeated."),
    ] = None,
    any_of: Annotated[bool, typer.Option("--any", help="One of the tags is enough.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="List at most so many.")] = 100,
    rename: Annotated[
        str | None, typer.Option("--rename", metavar="NAME", help="Another name.")
    ] = None,
    add_tag: Annotated[
        list[str] | None, typer.Option("--add-tag", metavar="TAG", help="Add a tag.")
    ] = None,
    remove_tag: Annotated[
        list[str] | None, typer.Option("--remove-tag", metavar="TAG", help="Take a tag away.")
    ] = None,
    description: DescriptionOption = None,
    model: ModelOption = None,
    embedder: EmbedderOption = None,
    system: SystemOption = None,
    context_window: WindowOption = None,
    parallel_tool_calls: ParallelOption = None,
    sleeptime: SleeptimeOption = None,
    delete: Annotated[
        str | None,
        typer.Option("--delete", metavar="AGENT", help="Remove it, with all that is its own."),
    ] = None,
    reason: ReasonOption = "",
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """List agents; show one, change its settings, or delete it.

    What was deleted comes back with a rollback.
    """
    from dcf.cli.memory import agents as work
    from dcf.cli.memory.agent_settings import AgentSettings
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    chosen = AgentSettings(
        description, model, embedder, system, context_window, parallel_tool_calls, sleeptime
    )
    changed = chosen != AgentSettings() or bool(rename is not None or add_tag or remove_tag)
    settings = Settings.from_env(os.environ)
    if delete is not None:
        if name is not None or changed:
            raise typer.BadParameter(
                "it stands alone: no other agent, no settings", param_hint="--delete"
            )
        return asyncio.run(work.delete_agent(settings, delete, Screen(as_json=as_json), sure=sure))
    if name is None:
        if changed:
            raise typer.BadParameter("name the agent to change", param_hint="[AGENT]")
        return asyncio.run(work.list_agents(settings, tuple(tag or ()), any_of=any_of, limit=limit))
    if not changed:
        return asyncio.run(work.show_agent(settings, name))
    change = work.AgentChange(chosen, rename, tuple(add_tag or ()), tuple(remove_tag or ()), reason)
    return asyncio.run(work.change_agent(settings, name, change))
