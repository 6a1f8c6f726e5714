"""``plan`` and ``plans``: from an objective or a procedure to a workflow, and back."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from dcf.cli.answer import Answer
from dcf.cli.commands.command import (
    DEFAULT_LEASE_S,
    DEFAULT_RUNS,
    InputOption,
    JsonOption,
    LeaseOption,
    RunPoolOption,
    RunsOption,
    command,
)
from dcf.cli.commands.skills_folders import GeneratedOption
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED, INTERRUPTED, OK
from dcf.context_form import LEAST_BUDGET, MOST_BUDGET


def register(app: typer.Typer) -> None:
    """Add the commands of this family."""
    command(
        app,
        "plan",
        example=[
            'dcf plan "check a bill from a vendor and pay it" --answer invoice_id=INV-2001',
            "dcf plan --from-sop refund.md --out refund.json --picture refund.svg",
            "dcf plan --decompile workflows/order-processing.json",
        ],
        exits=(OK, FAILED, BAD_INPUT, ENVIRONMENT, INTERRUPTED),
    )(plan)
    command(app, "plans", example="dcf plans", exits=(OK, BAD_INPUT))(plans)


def _answer(given: str) -> str:
    if "=" not in given or not given.partition("=")[0].strip():
        raise typer.BadParameter(f"{given!r} is no answer: name=value")
    return given


def _answers(given: list[str] | None) -> list[str]:
    return [_answer(one) for one in given or ()]


def plan(
    objective: Annotated[
        str | None, typer.Argument(metavar="[OBJECTIVE]", help="What is to be achieved.")
    ] = None,
    from_sop: Annotated[
        Path | None,
        typer.Option("--from-sop", metavar="FILE", help="A procedure, or any runbook."),
    ] = None,
    decompile: Annotated[
        Path | None,
        typer.Option("--decompile", metavar="FILE", help="A workflow to tell as a procedure."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write what comes out.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="Draw it: .svg, .png or .mmd."),
    ] = None,
    drafts: Annotated[
        Path | None,
        typer.Option(
            "--drafts",
            metavar="DIR",
            help="Write drafts of missing skills into these sources; of a runbook for all steps "
            "that none fits.",
        ),
    ] = None,
    commands: Annotated[
        bool,
        typer.Option(
            "--commands",
            help="Commands of the procedure that are plain argument lists become tasks, each asked "
            "for before it runs.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="With --from-sop: only our own form of procedures, and a skill for every step.",
        ),
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="FILE", help="Answers to questions of --from-sop, YAML."),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the questions of --from-sop at the terminal.")
    ] = False,
    take: Annotated[
        list[str] | None,
        typer.Option(
            "--take",
            metavar="SIDE",
            help="Where both the text of --from-sop and somebody by hand changed a step of the "
            "workflow in --out: source or workflow; for one step 3=workflow.",
        ),
    ] = None,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Only show what --from-sop changes in the workflow of --out."),
    ] = False,
    form: Annotated[
        Literal["markdown", "yaml"], typer.Option("--form", help="Of a procedure told.")
    ] = "markdown",
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer", metavar="NAME=VALUE", help="Answer a question.", callback=_answers
        ),
    ] = None,
    bind: Annotated[
        list[str] | None,
        typer.Option(
            "--bind",
            metavar="STEP.ARGUMENT=VALUE",
            help="Give an argument of a step the value of another name.",
            callback=_answers,
        ),
    ] = None,
    input_: InputOption = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="ID", help="Go on with a planning.")
    ] = None,
    approve: Annotated[
        str | None,
        typer.Option("--approve", metavar="DIGEST", help="Approve what was shown under it."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve unseen; never what a model drafted.")
    ] = False,
    run: Annotated[
        bool | None,
        typer.Option(
            "--run/--no-run",
            help="Run what is approved.",
            show_default="run, but not with --from-sop alone",
        ),
    ] = None,
    reflect: Annotated[
        bool, typer.Option("--reflect/--no-reflect", help="Learn from the run.")
    ] = True,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Worker processes, if none is there yet.")
    ] = 1,
    lease_s: LeaseOption = DEFAULT_LEASE_S,
    runs: RunsOption = DEFAULT_RUNS,
    pool: RunPoolOption = None,
    timeout_s: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", min=0, help="Stop watching after this long."),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", min=0, help="What a model's draft may cost."),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            "--context",
            metavar="TOKENS",
            min=LEAST_BUDGET,
            max=MOST_BUDGET,
            help="Tell a model that drafts what fits of the project's files and memory.",
        ),
    ] = None,
    explore: Annotated[
        bool | None,
        typer.Option(
            "--explore/--no-explore",
            help="Whether to try a version of a skill now and then, to learn about it.",
            show_default="DCF_EXPLORE, or on",
        ),
    ] = None,
    generated: GeneratedOption = None,
    as_json: JsonOption = False,
) -> Answer:
    """Plan what is to be achieved: match or draft a procedure, compile it, show it, run it.

    Stored procedures and workflows are matched to the objective; with a model (DCF_MODEL_PLANNER)
    a new one is drafted where none fits. Nothing runs before somebody approved what was shown.
    With --from-sop a procedure or any runbook is compiled (Markdown, reStructuredText, AsciiDoc,
    HTML, DOCX), by what was measured of the
    skills and what `dcf advise` says of them: what is not understood is asked, and what no skill
    covers a person does. With --decompile a workflow is told as one. Both need no model.
    """
    from dcf.cli.drift import Following
    from dcf.cli.planning import (
        CompilingOptions,
        alone_only,
        beginning_only,
        compile_file,
        decompile_file,
        only_one,
    )
    from dcf.cli.runbook import Answering, runbook_in
    from dcf.cli.screen import Screen
    from dcf.cli.settings import Settings

    settings = Settings.from_env(os.environ)
    only_one(objective, resume, from_sop, decompile, asks=sys.stdin.isatty() and not as_json)
    if decompile is not None:
        return decompile_file(decompile, out, form)
    screen = Screen(as_json=as_json)
    if explore is not None:
        beginning_only(resume)
        settings = replace(settings, explore=explore)
    if from_sop is not None and not run:
        bound = dict(_named(one) for one in bind or ())
        answering = Answering(dict(_named(one) for one in answer or ()), answers, ask)
        folder = generated or settings.generated
        following = Following(tuple(take or ()), diff)
        options = CompilingOptions(
            out, picture, drafts, folder, strict, answering, following, bound, commands
        )
        return compile_file(from_sop, options, settings, screen)

    alone_only(drafts)

    from dcf.cli.planner.carrying_out import RunWish
    from dcf.cli.planner.talk import Talk, talk
    from dcf.planner import COMMANDS, WANTED

    named = (*(answer or ()), *(f"bind.{one}" for one in bind or ()))
    said = dict(_named(one) for one in named)
    if commands:
        said[COMMANDS] = WANTED
    wanted = RunWish(workers, lease_s, runs, pool, timeout_s, reflect)
    order = Talk(
        objective or "",
        resume,
        from_sop,
        said,
        input_,
        approve,
        yes,
        None if run is False else wanted,
        out,
        picture,
        max_cost,
        context,
        answers,
        ask,
        strict,
        # Before there is a loop: only in the main thread the time of a parser is limited.
        None if from_sop is None or strict else runbook_in(from_sop),
    )
    if generated is not None:
        settings = replace(settings, generated=generated)
    return asyncio.run(talk(order, settings, screen))


def plans(
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 20,
    as_json: JsonOption = False,
) -> Answer:
    """List plannings, the newest first."""
    from dcf.cli.planner.plans import list_plans

    return list_plans(limit)


def _named(given: str) -> tuple[str, str]:
    name, _, value = given.partition("=")
    return name.strip(), value
