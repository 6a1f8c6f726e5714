"""``runs``, ``explain`` and ``history``: what happened, and why something stands still."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, RunArgument, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK

_EXITS = (OK, BAD_INPUT, ENVIRONMENT)


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(app, "runs", example="dcf runs --status failed --limit 5", exits=_EXITS)(runs)
    command(app, "explain", example="dcf explain hello-1", exits=_EXITS)(explain)
    command(
        app,
        "history",
        example=["dcf history hello-1", "dcf history --agent clerk-1"],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(history)


def runs(
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="At most so many.")] = 20,
    status: Annotated[
        str | None,
        typer.Option(
            "--status", help="pending, running, succeeded, failed, timed_out or cancelled."
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="PLACE",
            help="Go on after this run: its id, or `next_after` of the page before.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """List runs, the newest first.

    By when they were submitted, whether they still run or not. The duration is that of the whole
    run, from its start to its end or until now. Where there are more, the last line says how to go
    on.
    """
    from dcf.cli.runs import list_runs
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(list_runs(Settings.from_env(os.environ), screen, limit, status, after))


def explain(workflow_id: RunArgument, as_json: JsonOption = False) -> Answer:
    """Say why a run stands where it stands.

    Each open state with what would move it.
    """
    from dcf.cli.explain import explain_run
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    return asyncio.run(explain_run(workflow_id, Settings.from_env(os.environ), screen))


def history(
    workflow_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Id of the run.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="ID", help="Instead of a run, this agent outside runs."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Show what happened in a run, when, and who did it.

    Of an agent the newest 5,000 events are kept: the skills that it loaded, its calls of tools,
    and what was decided on them.
    """
    from dcf.cli.history import show_agent_history, show_history
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    if (workflow_id is None) == (agent is None):
        raise typer.BadParameter("name a run, or an agent with --agent", param_hint="[ID]")
    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    if agent is not None:
        return asyncio.run(show_agent_history(agent, settings, screen))
    return asyncio.run(show_history(str(workflow_id), settings, screen))
