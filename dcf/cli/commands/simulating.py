"""``sim``: the guarantees under crashes, lost hints and a bad network, by seed."""

from __future__ import annotations

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
        "sim",
        example=[
            "dcf sim --seed 42",
            "dcf sim --seeds 0:500 --jobs 2",
            "dcf sim --sabotage renew --seeds 0:50",
            "dcf sim --workflow order.asl.json --input '{\"id\": 7}' --mocks order.mocks.yaml"
            " --invariant '$count($calls[state = \"Pay\"]) > 0'",
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
    workflow: Annotated[
        Path | None,
        typer.Option(
            "--workflow",
            metavar="FILE",
            help="Simulate runs of this machine, plain ASL or a workflow document, "
            "0:200 if no seeds are given.",
        ),
    ] = None,
    input: Annotated[
        str | None,
        typer.Option(
            "--input", metavar="FILE|JSON|-", help="Input of its runs.", show_default="{}"
        ),
    ] = None,
    mocks: Annotated[
        str | None,
        typer.Option(
            "--mocks",
            metavar="FILE|JSON",
            help="What its Tasks answer: a file of JSON or YAML, or the JSON itself.",
        ),
    ] = None,
    invariant: Annotated[
        list[str] | None,
        typer.Option(
            "--invariant",
            metavar="EXPR",
            help="JSONata over $input, $output, $status, $error, $cause, $events, $calls and "
            "$disturbed that must be true of each run when it is over; may be repeated.",
        ),
    ] = None,
    invariants: Annotated[
        Path | None,
        typer.Option(
            "--invariants", metavar="FILE", help="Names and expressions, as JSON or YAML."
        ),
    ] = None,
    objects: Annotated[
        Path | None,
        typer.Option("--objects", metavar="DIR", help="Its folders are the buckets of ItemReader."),
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
    give the same history, call by call. With --workflow one run of a machine of yours takes place
    under each seed, its Tasks mocked; its end must be the interpreter's, and its invariants true.
    """
    from dcf.cli.screen import Screen
    from dcf.cli.sim import SimulationOptions, simulate
    from dcf.cli.sim_workflow import WorkflowOptions

    about = WorkflowOptions(workflow, input, mocks, tuple(invariant or ()), invariants, objects)
    asked = SimulationOptions(seed, seeds, sabotage, steps, jobs, about)
    return simulate(asked, Screen(as_json=as_json))
