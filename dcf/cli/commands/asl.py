"""``asl``: state machines without a control plane: check, run, test, draw, measure."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import InputOption, JsonOption, command
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, OK

MachineArgument = Annotated[
    Path, typer.Argument(metavar="MACHINE", help="Plain ASL or a workflow document.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    asl = typer.Typer(
        help="Amazon States Language: check, run, test and draw machines; nothing is started.",
        rich_markup_mode=None,
        no_args_is_help=True,
    )
    app.add_typer(asl, name="asl")
    command(
        asl,
        "validate",
        example="dcf asl validate workflows/*.asl.json --type express",
        exits=(OK, BAD_INPUT),
    )(validate)
    command(
        asl,
        "run",
        example="dcf asl run order.asl.json --input '{\"id\": 7}' --mocks order.mocks.yaml",
        exits=(OK, FAILED, BAD_INPUT),
    )(run)
    command(
        asl,
        "test-state",
        example=[
            "dcf asl test-state order.asl.json --state Pay --result '{\"paid\": true}'",
            "dcf asl test-state order.asl.json --state Pay --error Bank.Busy --retries 1",
            "dcf asl test-state order.asl.json --state EachItem --result '[{\"sent\": 1}, null]'",
        ],
        exits=(OK, FAILED, BAD_INPUT),
    )(test_state)
    command(
        asl,
        "conformance",
        example=[
            "dcf asl conformance corpus.jsonl --out results.jsonl",
            "dcf asl conformance corpus.jsonl --out twin.jsonl --engine twin --op execute"
            " --against results.jsonl",
        ],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT),
    )(conformance)
    command(
        asl,
        "graph",
        example=[
            "dcf asl graph order.asl.json",
            "dcf asl graph order.asl.json --out order.svg --run order-1",
        ],
        exits=(OK, BAD_INPUT, ENVIRONMENT),
    )(graph)


def validate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Plain ASL or workflow documents.")
    ],
    type: Annotated[
        Literal["standard", "express"], typer.Option("--type", help="What it is to run as.")
    ] = "standard",
    aws: Annotated[
        bool,
        typer.Option(
            "--aws",
            help="What only DCF has is an error: AgentBinding, memory, Resources that are no ARN.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Check definitions as strictly as AWS does, and no stricter.

    Every problem with its place, rule and hint. Warnings alone exit with 0. Skills are not looked
    up: `dcf validate` does that.
    """
    from dcf.cli.validate import validate_definitions

    return validate_definitions(files, "EXPRESS" if type == "express" else "STANDARD", aws)


def run(
    machine: MachineArgument,
    input: InputOption = None,
    mocks: Annotated[
        str | None,
        typer.Option(
            "--mocks",
            metavar="FILE|JSON",
            help="What Tasks answer: a file of JSON or YAML, or the JSON itself.",
        ),
    ] = None,
    objects: Annotated[
        Path | None,
        typer.Option(
            "--objects",
            metavar="DIR",
            help="Its folders are the buckets of ItemReader and -Writer.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="TIME", help="When it starts.", show_default="now"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of everything random.")] = 0,
    trace: Annotated[
        Literal["table", "json", "none"],
        typer.Option("--trace", help="How to show what it did; json: all of the answer is."),
    ] = "table",
    aws_limits: Annotated[
        bool, typer.Option("--aws-limits", help="Payloads over 256 KiB are an error, as on AWS.")
    ] = False,
    as_json: JsonOption = False,
) -> Answer:
    """Run a machine here, with mocked Tasks and on virtual time: a month of Waits takes no time.

    Needs no Redis and no workers. The same start and seed give the same execution.
    """
    from dcf.cli.asl_run import MachineRunOptions, run_machine
    from dcf.cli.screen import Screen

    options = MachineRunOptions(input, mocks, objects, start, seed, trace, aws_limits)
    return run_machine(machine, options, Screen(as_json=as_json))


def test_state(
    machine: Annotated[
        Path, typer.Argument(metavar="FILE", help="A machine, a workflow document, or one state.")
    ],
    state: Annotated[
        str | None,
        typer.Option("--state", metavar="NAME", help="Which state.", show_default="StartAt"),
    ] = None,
    input: InputOption = None,
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="FILE|JSON",
            help="The context object.",
            show_default="made, with a Task.Token where the state waits for one",
        ),
    ] = None,
    variables: Annotated[
        str | None,
        typer.Option("--variables", metavar="FILE|JSON", help="Variables assigned before."),
    ] = None,
    result: Annotated[
        str | None,
        typer.Option("--result", metavar="FILE|JSON", help="What its work answers."),
    ] = None,
    error: Annotated[
        str | None, typer.Option("--error", metavar="NAME", help="Its work fails with this error.")
    ] = None,
    cause: Annotated[
        str | None, typer.Option("--cause", metavar="TEXT", help="Cause of the error.")
    ] = None,
    retries: Annotated[
        int, typer.Option("--retries", min=0, help="Tries that Retry has used up.")
    ] = 0,
    failed_iterations: Annotated[
        int | None,
        typer.Option("--failed-iterations", min=0, help="How many iterations of a Map failed."),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option("--items", metavar="FILE|JSON", help="What an ItemReader reads: an array."),
    ] = None,
    level: Annotated[
        Literal["info", "debug", "trace"],
        typer.Option("--level", help="info: the result alone; else each stage of the data flow."),
    ] = "debug",
    schema: Annotated[
        bool,
        typer.Option(
            "--schema/--no-schema", help="Check the result against the service's answers."
        ),
    ] = True,
    as_json: JsonOption = False,
) -> Answer:
    """Run one state alone: each stage of its data flow, its next state, what Retry and Catch do.

    Task, Map and Parallel need --result or --error; a Wait does not wait. The states inside a Map
    or a Parallel do not run: --result is the array of what its iterations or branches give, --error
    what one of them fails with, --failed-iterations how many of a Map failed (with
    ToleratedFailureCount or -Percentage). To test a state inside, name it with --state.
    """
    from dcf.cli.asl_test_state import StateTestOptions, test_state

    options = StateTestOptions(
        state,
        input,
        context,
        variables,
        result,
        error,
        cause,
        retries,
        failed_iterations,
        items,
        level,
        schema,
    )
    return test_state(machine, options)


def conformance(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="Recorded cases, a JSON object a line.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where results go.")],
    engine: Annotated[
        Literal["pure", "twin", "redis"],
        typer.Option(
            "--engine",
            help="The interpreter, or workers on the twin or on a real Redis (extra `sim`).",
        ),
    ] = "pure",
    op: Annotated[
        list[str] | None,
        typer.Option("--op", metavar="OP", help="Only cases of this op; may be repeated."),
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only cases with this tag; may be repeated."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes at a time.")] = 1,
    require: Annotated[
        Literal["status", "value", "exact", "details"] | None,
        typer.Option("--require", help="Fail when a case does not hold at this level."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="FILE", help="Other results: fail where these differ from them."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Where the counts go, as JSON.")
    ] = None,
    as_json: JsonOption = False,
) -> Answer:
    """Run recorded cases and say how many come out as recorded.

    Levels: the status; the value (with output and error name); exact (with the cause); details
    (with what Tasks were given, and the stages of tested states). Time is virtual, and Tasks
    answer what was recorded. The engines twin and redis need the extra sim.
    """
    from dcf.cli.asl_conformance import ConformanceOptions, conformance
    from dcf.cli.screen import Screen

    options = ConformanceOptions(
        engine, out, frozenset(op or ()), frozenset(tag or ()), jobs, require, against, report
    )
    return conformance(corpus, options, Screen(as_json=as_json))


def graph(
    machine: MachineArgument,
    format: Annotated[
        Literal["mermaid", "svg", "png"] | None,
        typer.Option("--format", help="What to draw.", show_default="by --out, else mermaid"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="PATH", help="Where to: .svg, .png, .mmd.", show_default="printed"
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="ID", help="Show what this run did, and for how long."),
    ] = None,
    direction: Annotated[
        Literal["down", "right"], typer.Option("--direction", help="Which way the flow goes.")
    ] = "down",
    as_json: JsonOption = False,
) -> Answer:
    """Draw a machine: what leads where, what catches errors, what is inside of Map and Parallel.

    Mermaid text for Markdown pages, SVG or PNG for people. A definition with mistakes is drawn as
    far as that goes, and they are told. Only --run needs Redis.
    """
    from dcf.cli.asl_graph import DrawingOptions, draw_file
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    options = DrawingOptions(format, out, run, direction)
    screen = Screen(as_json=as_json)
    return asyncio.run(draw_file(machine, options, Settings.from_env(os.environ), screen))
