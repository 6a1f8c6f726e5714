"""``run``, ``submit`` and ``watch``: a run from its start to its end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import (
    DEFAULT_LEASE_S,
    DEFAULT_POOL,
    DEFAULT_RUNS,
    IdOption,
    InputOption,
    JsonOption,
    LeaseOption,
    PoolOption,
    RunArgument,
    RunPoolOption,
    RunsOption,
    command,
)
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="A workflow document or plain ASL, as JSON.")
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="Stop watching after this long."),
]
DeathsOption = Annotated[
    int | None,
    typer.Option(
        "--worker-deaths",
        metavar="N",
        min=1,
        max=100,
        help="How many workers may die over one state before it fails.",
        show_default="what the workflow says, else 3",
    ),
]
_EXITS = (OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED)


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "run",
        example=[
            "dcf run workflows/order-processing.json --input workflows/inputs/order-demo.json",
            """dcf run hello.json --input '{"name": "Ada"}' --json""",
        ],
        exits=_EXITS,
    )(run)
    command(app, "submit", example="dcf submit hello.json --input - --id hello-1 < input.json")(
        submit
    )
    command(app, "watch", example="dcf watch hello-1", exits=_EXITS)(watch)


def run(
    file: FileArgument,
    input_: InputOption = None,
    workflow_id: IdOption = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Worker processes, if none is there yet.")
    ] = 1,
    lease_s: LeaseOption = DEFAULT_LEASE_S,
    runs: RunsOption = DEFAULT_RUNS,
    pool: RunPoolOption = None,
    timeout_s: TimeoutOption = None,
    worker_deaths: DeathsOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Run a workflow and watch it to its end.

    Checks everything first. Brings up what is missing: Redis, the stub tool server, workers of
    its own in a pool of their own, unless workers with the same skills are there. Ends with the
    output and the audit trail.
    """
    from dcf.cli.run import RunOrder, run_workflow
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    order = RunOrder(
        file, input_, workflow_id, workers, lease_s, runs, pool, timeout_s, worker_deaths
    )
    return asyncio.run(run_workflow(order, Settings.from_env(os.environ), Screen(as_json=as_json)))


def submit(
    file: FileArgument,
    input_: InputOption = None,
    workflow_id: IdOption = None,
    pool: PoolOption = DEFAULT_POOL,
    worker_deaths: DeathsOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Start a run and return at once.

    Workers that read the pool carry it out.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.submit import submit_workflow

    screen = Screen(as_json=as_json)
    settings = Settings.from_env(os.environ)
    return asyncio.run(
        submit_workflow(file, input_, workflow_id, pool, worker_deaths, settings, screen)
    )


def watch(
    workflow_id: RunArgument,
    runs: RunsOption = DEFAULT_RUNS,
    timeout_s: TimeoutOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Watch a run to its end.

    Ctrl-C stops the watching, not the run.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings
    from dcf.cli.watch import watch_run

    screen = Screen(as_json=as_json)
    return asyncio.run(
        watch_run(workflow_id, runs, timeout_s, Settings.from_env(os.environ), screen)
    )
