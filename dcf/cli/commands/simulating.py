"""``sim``: the guarantees under crashes, lost hints and a bad network, by seed."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "sim",
        example=[
            "dcf sim --seed 42",
            "dcf sim --seeds 0:500 --jobs 2",
            "dcf sim --sabotage renew --seeds 0:50",
        ],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(sim)


def sim(
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The seed to simulate.", show_default="0")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option("--seeds", metavar="FIRST:END", help="Many seeds.")
    ] = None,
    sabotage: Annotated[
        str | None,
        typer.Option(
            "--sabotage",
            metavar="NAME|all",
            help="Break the scripts: a mutant, or how names of mutants begin, such as `tick`. "
            "Each should be noticed by one of the seeds, 0:200 if none are given.",
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option("--steps", min=1, help="Calls of the server until faults end.")
    ] = 2_000,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Processes for many seeds.", show_default="all")
    ] = os.cpu_count() or 1,
    as_json: JsonOption = False,
) -> Answer:
    """Simulate workers, crashes, lost hints and clocks under a seed and check every guarantee.

    Needs no Redis: the same scripts run in this process, on virtual time. The same seed and steps
    give the same history, call by call.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.sim import simulate

    return simulate(seed, seeds, sabotage, steps, jobs, Screen(as_json=as_json))
