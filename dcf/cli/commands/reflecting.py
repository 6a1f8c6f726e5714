"""``reflect`` and ``advise``: what planners should know, from finished runs and from people."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "reflect",
        example=[
            "dcf reflect --since 7d",
            "dcf reflect --since 30d --html report.html",
            "dcf reflect order-1.run.gz",
        ],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(reflect)
    command(
        app,
        "advise",
        example=[
            "dcf advise orders.charge_payment --prefer orders.charge_payment@1.0.0",
            "dcf advise orders.charge_payment --withdraw",
        ],
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(advise)


def reflect(
    workflow_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|FILE]", help="Show this run, or that of an exported file, next to others."
        ),
    ] = None,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="As in 90m, 12h, 7d or 4w.")
    ] = "7d",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The report as Markdown.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="The report as one page with charts."),
    ] = None,
    publish: Annotated[
        bool, typer.Option("--publish/--no-publish", help="Tell the planner what is sure enough.")
    ] = True,
    planner: Annotated[
        str,
        typer.Option("--planner", metavar="NAME", help="The agent to tell; made if it is missing."),
    ] = "planner",
    phrase: Annotated[
        bool, typer.Option("--phrase", help="Begin with some sentences by the reflector's model.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Analyse what ended lately: what works, what fails, what is slow, what changed.

    All of it is counted; a model is asked for words only, with --phrase, and what it adds of its
    own is not shown. Insights come with the runs that show them and how sure they are; what several
    runs show becomes a guideline for planners. With a file of `dcf runs export` nothing is
    published, and with DCF_GRAPH=off it is read alone.
    """
    from dcf.cli.reflect import Order, reflect_on_runs
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    order = Order(workflow_id, since, out, html, planner if publish else None, phrase)
    screen = Screen(as_json=as_json)
    return asyncio.run(reflect_on_runs(order, Settings.from_env(os.environ), screen))


def advise(
    task_type: Annotated[
        str, typer.Argument(metavar="TASK", help="The type of task: a skill without its version.")
    ],
    prefer: Annotated[
        str | None,
        typer.Option("--prefer", metavar="SKILL@VERSION", help="The version to take."),
    ] = None,
    avoid: Annotated[
        str | None,
        typer.Option("--avoid", metavar="SKILL@VERSION", help="A version not to take."),
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Take back what was advised for this task.")
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is shown with the plan.")] = "",
    planner: Annotated[
        str,
        typer.Option("--planner", metavar="NAME", help="The agent to tell; made if it is missing."),
    ] = "planner",
    as_json: JsonOption = False,
) -> Answer:
    """Tell planners which version of a skill to take, whatever is measured.

    It takes the place of what you advised for that task before, and holds for 30 days.
    """
    from dcf.cli.advise import AdviceOrder
    from dcf.cli.advise import advise as tell
    from dcf.cli.settings import Settings

    options = AdviceOrder(task_type, prefer, avoid, withdraw, reason, planner)
    return asyncio.run(tell(options, Settings.from_env(os.environ)))
