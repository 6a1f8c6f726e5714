"""``session tasks``, ``task``, ``delegate``, ``cancel`` and ``watch``."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.commands.session_options import SessionArgument, TaskArgument
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK

_WAITING = (OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED)


def register_tasks(group: typer.Typer) -> None:
    """Add the commands about tasks."""
    command(group, "tasks", example=["dcf session tasks support-42", "dcf session tasks s --all"])(
        tasks
    )
    command(group, "task", example="dcf session task support-42 task-0f3c")(task)
    command(
        group,
        "delegate",
        example=[
            'dcf session delegate support-42 "Where is the parcel?" '
            """--skill support.check_delivery --input '{"order_id": "ORD-1004"}' --wait""",
            'dcf session delegate support-42 "Pack it" --workflow workflows/order-processing.json',
        ],
        exits=_WAITING,
    )(delegate)
    command(group, "cancel", example="dcf session cancel support-42 task-0f3c")(cancel)
    command(group, "watch", example="dcf session watch support-42 --idle", exits=_WAITING)(watch)


def tasks(
    session_id: SessionArgument,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that were closed long ago.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """List the tasks of a session: who has each, how far it is, why it waits."""
    from dcf.cli.screen import Screen
    from dcf.cli.session.listing import list_tasks
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(list_tasks(session_id, settings, screen, everything=everything))


def task(session_id: SessionArgument, task_id: TaskArgument, as_json: JsonOption = False) -> Answer:
    """Show all of one task: what was ordered, who had it, why it waits, what came of it."""
    from dcf.cli.screen import Screen
    from dcf.cli.session.task import show_task
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(show_task(session_id, task_id, settings, screen))


def delegate(
    session_id: SessionArgument,
    description: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done.")],
    to: Annotated[
        str | None, typer.Option("--to", metavar="COMPANION", help="Who must do it.")
    ] = None,
    specialization: Annotated[
        str | None,
        typer.Option("--specialization", metavar="NAME", help="What who does it must be good at."),
    ] = None,
    skill: Annotated[
        list[str] | None,
        typer.Option("--skill", metavar="REF", help="A skill that it needs; may be repeated."),
    ] = None,
    input_: Annotated[
        str | None,
        typer.Option("--input", metavar="FILE|JSON|-", help="Its input.", show_default="{}"),
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after",
            metavar="TASK",
            help="A task that must be done before, by id or number; repeated.",
        ),
    ] = None,
    priority: Annotated[
        Literal["low", "normal", "high", "urgent"],
        typer.Option("--priority", help="Which comes first of those that wait."),
    ] = "normal",
    timeout_s: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=1, help="Until when it must be done."),
    ] = 300.0,
    task_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="NAME", help="What statistics call it.", show_default="its skill"
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            "--context",
            metavar="TOKENS",
            help="Tell its companion what fits of the project's files and memory.",
        ),
    ] = None,
    task_id: Annotated[
        str | None,
        typer.Option("--id", metavar="TASK", help="Its id: said twice, it is one task."),
    ] = None,
    workflow: Annotated[
        Path | None,
        typer.Option(
            "--workflow", metavar="FILE", help="A workflow that workers run, as the task."
        ),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for its end, and show its result.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Delegate one task by hand.

    Without --to and --specialization any companion may do it. With --wait it exits with 1 when the
    task failed, and serves the companions itself while nobody else does.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.delegating import Delegation, delegate_task
    from dcf.cli.settings import Settings

    asked = Delegation(
        session_id=session_id,
        description=description,
        companion_id=to,
        specialization=specialization,
        skills=skill or (),
        given=input_,
        after=after or (),
        priority=priority,
        timeout_s=timeout_s,
        task_type=task_type,
        task_id=task_id,
        workflow=workflow,
        context=context,
        wait=wait,
    )
    settings, screen = Settings.from_env(os.environ), Screen(as_json=as_json)
    return asyncio.run(delegate_task(asked, settings, screen))


def cancel(
    session_id: SessionArgument,
    task_id: TaskArgument,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the history.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Cancel a task, wherever it is."""
    from dcf.cli.screen import Screen
    from dcf.cli.session import stating
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(stating.cancel(session_id, task_id, reason, settings, screen))


def watch(
    session_id: SessionArgument,
    idle: Annotated[bool, typer.Option("--idle", help="Only until nothing is open in it.")] = False,
    timeout_s: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", min=0, help="Stop watching after this long."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Watch a session until it is over: a row for each task.

    Serves its companions itself while nobody else does. Ctrl-C stops the watching.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.session.watching import watch_session
    from dcf.cli.settings import Settings

    screen, settings = Screen(as_json=as_json), Settings.from_env(os.environ)
    return asyncio.run(watch_session(session_id, timeout_s, settings, screen, idle=idle))
