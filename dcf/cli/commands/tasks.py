"""``tasks``: what waits for a person to do it, and the answer."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, RunArgument, command, epilog
from dcf.cli.commands.deciding import SureOption
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, OK

StateArgument = Annotated[
    str, typer.Argument(metavar="STATE", help="The state: Restart, Each[2]/Restart.")
]
NameOption = Annotated[str, typer.Option("--as", metavar="NAME", help="Who says so.")]
DigestOption = Annotated[
    str | None,
    typer.Option("--digest", metavar="SHA256", help="The task that is meant, as it was shown."),
]
QuestionOption = Annotated[
    str | None,
    typer.Option("--question", metavar="ID", help="The try that is meant, as it was shown."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    group = typer.Typer(
        rich_markup_mode=None, epilog=epilog("dcf tasks --by dba", (OK, BAD_INPUT, ENVIRONMENT))
    )
    group.callback(invoke_without_command=True)(tasks)
    command(group, "show", example="dcf tasks show repair-1 Restart")(show)
    command(
        group,
        "done",
        example=[
            "dcf tasks done repair-1 Restart --as dba",
            'dcf tasks done repair-1 Look --as dba --choice yes --result \'{"ticket": "OPS-7"}\'',
        ],
    )(done)
    command(
        group, "failed", example="dcf tasks failed repair-1 Restart --as dba --reason 'no access'"
    )(failed)
    app.add_typer(group, name="tasks")


def tasks(
    context: typer.Context,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Only those of this run.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAME", help="Only those that this role or person may do."),
    ] = None,
    as_json: JsonOption = False,
) -> Answer | None:
    """List what waits for a person to do it, the oldest first; with a command, show or answer one.

    The manual tasks of runs. What waits for approval is in `dcf approvals`.
    """
    if context.invoked_subcommand is not None:
        return None
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.tasks import list_tasks

    screen = Screen(as_json=as_json)
    return asyncio.run(list_tasks(run, by, Settings.from_env(os.environ), screen))


def show(workflow_id: RunArgument, state: StateArgument, as_json: JsonOption = False) -> Answer:
    """Show a task in full: what is to be done, with what, and the commands that answer it."""
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.tasks import show_task

    screen = Screen(as_json=as_json)
    return asyncio.run(show_task(workflow_id, state, Settings.from_env(os.environ), screen))


def done(
    workflow_id: RunArgument,
    state: StateArgument,
    name: NameOption = "operator",
    choice: Annotated[
        str | None, typer.Option("--choice", metavar="TEXT", help="One of the task's choices.")
    ] = None,
    result: Annotated[
        str | None,
        typer.Option("--result", metavar="FILE|JSON|-", help="An object: what is reported."),
    ] = None,
    note: Annotated[str, typer.Option("--note", help="What else there is to say.")] = "",
    digest: DigestOption = None,
    question: QuestionOption = None,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Say that a task is done: the run goes on with the answer.

    A terminal shows the task and asks for what is missing. Elsewhere --digest and --question say
    which task is meant, as `dcf tasks show` prints them. The first answer counts.
    """
    return _finish(
        "done", workflow_id, state, name, choice, result, note, digest, question, sure, as_json
    )


def failed(
    workflow_id: RunArgument,
    state: StateArgument,
    name: NameOption = "operator",
    reason: Annotated[str, typer.Option("--reason", help="Why it could not be done.")] = "",
    digest: DigestOption = None,
    question: QuestionOption = None,
    sure: SureOption = False,
    as_json: JsonOption = False,
) -> Answer:
    """Say that a task could not be done, and why.

    It fails with DCF.ManualTaskFailed, which Retry and Catch can match.
    """
    return _finish(
        "failed", workflow_id, state, name, None, None, reason, digest, question, sure, as_json
    )


def _finish(
    decision: Literal["done", "failed"],
    workflow_id: str,
    state: str,
    name: str,
    choice: str | None,
    result: str | None,
    note: str,
    digest: str | None,
    question: str | None,
    sure: bool,
    as_json: bool,
) -> Answer:
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.tasks import TaskOrder, finish_task

    order = TaskOrder(
        workflow_id, state, decision, name, choice, result, note, digest, question, sure
    )
    screen = Screen(as_json=as_json)
    return asyncio.run(finish_task(order, Settings.from_env(os.environ), screen))
