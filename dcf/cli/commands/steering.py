"""``cancel``, ``redrive``, ``resume`` and ``callback``: ending a run early, letting a broken one go
on, here or from a folder, or answering a Task that waits for its token."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import DEFAULT_RUNS, JsonOption, RunArgument, RunsOption, command
from dcf.cli.commands.memory_scope import ProjectOption
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(app, "cancel", example="dcf cancel hello-1 --reason 'wrong order'")(cancel)
    command(
        app,
        "redrive",
        example="dcf redrive hello-1 --watch",
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED),
    )(redrive)
    command(
        app,
        "resume",
        example=["dcf resume checkpoints/order-1", "dcf resume checkpoints/order-1 --watch"],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED),
    )(resume)
    command(
        app,
        "callback",
        example=[
            "dcf callback WyJoZWxsby0xI… --result '{\"approved\": true}'",
            "dcf callback WyJoZWxsby0xI… --error Refused --cause 'over the limit'",
            "dcf callback WyJoZWxsby0xI… --heartbeat",
            "dcf callback - --result '{}' < token.txt",
        ],
    )(callback)


def cancel(
    workflow_id: RunArgument,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the history.")] = "",
    as_json: JsonOption = False,
) -> Answer:
    """Cancel a run; nothing more happens in it from then on."""
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.steer import cancel_run

    screen = Screen(as_json=as_json)
    return asyncio.run(cancel_run(workflow_id, reason, Settings.from_env(os.environ), screen))


def redrive(
    workflow_id: RunArgument,
    watch: Annotated[bool, typer.Option("--watch", help="Watch it to its end.")] = False,
    runs: RunsOption = DEFAULT_RUNS,
    as_json: JsonOption = False,
) -> Answer:
    """Let a broken run go on from where it broke.

    A run that failed, timed out or was cancelled; what is done stays done.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.steer import redrive_run

    screen = Screen(as_json=as_json)
    settings = Settings.from_env(os.environ)
    return asyncio.run(redrive_run(workflow_id, settings, screen, watch=watch, runs=runs))


def resume(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="With memory_backup.jsonl.gz, a file ID.run.gz, or both."
        ),
    ],
    watch: Annotated[bool, typer.Option("--watch", help="Watch the run to its end.")] = False,
    runs: RunsOption = DEFAULT_RUNS,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Put back what a checkpoint's folder holds, and let the run go on.

    The memory and the run, as far as they are not there: said again, it does what is left. Both
    files are read and checked before anything is written. A checkpoint of the memory that differs
    is never written over, and nothing is restored then. A run that failed, timed out or was
    cancelled goes on from where it broke.
    """
    from dcf.cli.resume import resume_folder
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    screen = Screen(as_json=as_json)
    settings = Settings.from_env(os.environ)
    return asyncio.run(
        resume_folder(folder, settings, screen, watch=watch, runs=runs, project=project)
    )


def callback(
    token: Annotated[
        str,
        typer.Argument(
            metavar="TOKEN|-",
            help="The task token; - reads it from standard input, so that neither ps nor the "
            "history of the shell shows it.",
        ),
    ],
    result: Annotated[
        str | None,
        typer.Option(
            "--result", metavar="FILE|JSON|-", help="The Task succeeded with this result."
        ),
    ] = None,
    error: Annotated[
        str | None,
        typer.Option("--error", metavar="NAME", help="The Task failed with this error name."),
    ] = None,
    cause: Annotated[str, typer.Option("--cause", help="Why it failed, for people.")] = "",
    heartbeat: Annotated[
        bool, typer.Option("--heartbeat", help="The work goes on: HeartbeatSeconds count anew.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Answer a Task that waits for its task token (.waitForTaskToken).

    One of --result, --error and --heartbeat. The first answer counts.
    """
    from dcf.cli.callback import CallbackOrder, call_back
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    order = CallbackOrder(token, result, error, cause, heartbeat)
    screen = Screen(as_json=as_json)
    return asyncio.run(call_back(order, Settings.from_env(os.environ), screen))
