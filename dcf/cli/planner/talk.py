"""``dcf plan "objective"``: asks, shows, has it approved, runs it, and says what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.asking import answer_to, at_terminal
from dcf.cli.exits import INTERRUPTED
from dcf.cli.generated_skills import demand_generated
from dcf.cli.input_source import read_input
from dcf.cli.outcome import who
from dcf.cli.output_file import check_outputs
from dcf.cli.planner.carrying_out import RunWish, carry_out, is_to_reflect, reflect
from dcf.cli.planner.desk import open_planner
from dcf.cli.planner.showing import answer_of, fields_of, next_step, shown
from dcf.cli.planning import draw_into, read_sop, write_workflow
from dcf.cli.runbook import (
    Answering,
    keep_answers,
    kept_answers,
    read_draft,
    runbook_text,
)
from dcf.cli.screen import Screen
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.cli.visible import visible
from dcf.planner import GIVEN, Planner, Planning, Question, blank_questions, misread, wishes
from dcf.problem import Problem
from dcf.sop import Source


@dataclass(frozen=True, slots=True)
class Talk:
    """The command line. ``objective`` or ``resume`` (an id) or ``procedure`` says what is planned.
    ``approve`` is the digest of what was shown before; ``yes`` approves unseen what no model wrote.
    ``run`` None: nothing is run here. ``context`` is tokens of what a model is told of the
    project. ``answered`` is a file of answers to questions of the procedure, which are asked at the
    terminal with ``asks``; ``strict``: it has to be in our own form, else ``source`` is what it
    says."""

    objective: str
    resume: str | None
    procedure: Path | None
    answers: Mapping[str, str]
    given: str | None
    approve: str | None
    yes: bool
    run: RunWish | None
    out: Path | None
    picture: Path | None
    max_cost: float | None
    context: int | None = None
    answered: Path | None = None
    asks: bool = False
    strict: bool = False
    source: Source | None = None


async def talk(order: Talk, settings: Settings, screen: Screen) -> Answer:
    """Lead the planning as far as the person lets it."""
    answers = _answers(order)
    outputs = {"--out": order.out, "--picture": order.picture}
    check_outputs(outputs, {"the procedure": order.procedure})
    planner = open_planner(
        settings,
        screen,
        order.max_cost,
        order.context,
        needs_skills=order.procedure is None and order.resume is None,
    )
    asks = at_terminal(screen)
    planning: Planning | None = None
    try:
        planning = await _begun(planner, order, answers, settings, screen, asks=asks)
        while asks and planning.status == "asking":
            planning = await planner.answer(planning.id, _asked(planning.questions, screen))
        asks_more = asks and order.resume is None and not order.yes
        if asks_more and (filled := _asked(blank_questions(planning), screen)):
            planning = await planner.answer(planning.id, filled)
        if planning.status == "shown":
            _draw(planner, planning, order, screen)
            planning = await _decided(planner, planning, order, screen, asks=asks)
        if order.out is not None and planning.workflow is not None:
            write_workflow(order.out, dict(planning.workflow))
            screen.say(f"Workflow: {order.out}")
        if planning.status == "ended" and order.run is not None and is_to_reflect(planning):
            return await reflect(planner, planning, order.run, settings, screen)
        if planning.status not in ("approved", "running") or order.run is None:
            return answer_of(planning)
        return await carry_out(planner, planning, order.run, settings, screen)
    except (KeyboardInterrupt, asyncio.CancelledError):
        if planning is None:
            note = ErrorNote("interrupted", "interrupted", "`dcf plans` lists what is kept")
            return Answer(status="interrupted", error=note, exit_code=INTERRUPTED)
        message = f"interrupted; planning {planning.id} is kept as it is"
        note = ErrorNote("interrupted", message, next_step(planning))
        return Answer(fields_of(planning), (), planning.status, note, INTERRUPTED)


async def _begun(
    planner: Planner,
    order: Talk,
    answers: dict[str, Any],
    settings: Settings,
    screen: Screen,
    *,
    asks: bool,
) -> Planning:
    if order.resume is not None:
        if order.objective.strip():
            answers["objective"] = order.objective
        if answers:
            return _kept(await planner.answer(order.resume, answers))
        with screen.working("planning …"):
            return await planner.resume(order.resume)
    procedure = None
    if order.procedure is not None:
        # With all its problems, before anything is kept.
        answers |= await _read(planner, order, settings, screen)
        procedure = (visible(str(order.procedure)), runbook_text(order.procedure))
    objective = order.objective
    if asks and procedure is None:
        if not objective.strip():
            objective = answer_to(input, "What is to be achieved? ")
        answers |= _asked(wishes(answers), screen)
    with screen.working("planning …"):
        return await planner.start(objective, answers, procedure=procedure, strict=order.strict)


async def _read(
    planner: Planner, order: Talk, settings: Settings, screen: Screen
) -> dict[str, str]:
    """The answers to questions of the procedure; new ones are kept beside it. Raises BadInput."""
    assert order.procedure is not None
    if order.strict:
        sop, _ = read_sop(order.procedure)
        answers: dict[str, str] = {}
    else:
        said = Answering(order.answers, order.answered, order.asks, among_others=True)
        assert order.source is not None
        draft, answers = await read_draft(
            order.source, order.procedure, said, screen, planner.bench.draft
        )
        sop = draft.sop
    if any(step.kind == "task" for step in sop.all_steps()):
        demand_generated(settings.generated)
    return answers


def _kept(planning: Planning) -> Planning:
    """``planning``, with its answers to questions of a procedure kept beside that one, if it is
    still what it was."""
    source, runbook = planning.source, (planning.plan or {}).get("runbook")
    if source is None or source["basis"] != GIVEN or not runbook:
        return planning
    file = Path(source["id"])
    given = {name: planning.answers[name] for name in runbook["answered"]}
    if given and file.is_file() and runbook_text(file) == source["text"]:
        keep_answers(file, {**kept_answers(file), **given})
    return planning


def _asked(questions: Any, screen: Screen) -> dict[str, str]:
    """What the person at the terminal answers; nothing for what need not be said."""
    given: dict[str, str] = {}
    for one in questions:
        if not isinstance(one, Question):
            continue
        if one.choices:
            screen.say(f"  {' | '.join(map(str, one.choices))}")
        example = f" (as in {one.example})" if one.example is not None else ""
        needed = "" if one.required else " [Enter: nothing to say]"
        while True:
            text = answer_to(input, f"{one.name}: {one.text}{example}{needed} ").strip()
            wrong = misread(one, text) if text else None
            if wrong is None and (text or not one.required):
                break
            if wrong is not None:
                screen.say(f"  {one.name}: {wrong}")
            if not _is_open():
                message = f"{one.name} was not answered"
                raise NotSo("plan_asks", message, f"--answer {one.name}=…")
        if text:
            given[one.name] = text
    return given


def _is_open() -> bool:
    """Whether somebody may still answer: at the end of the input nobody does."""
    import sys

    return not sys.stdin.closed and sys.stdin.isatty()


async def _decided(
    planner: Planner, planning: Planning, order: Talk, screen: Screen, *, asks: bool
) -> Planning:
    """The planning, approved if the person wants it so, or changed as they say."""
    assert planning.shown is not None
    if order.approve is not None:
        return await planner.approve(planning.id, order.approve, by=who())
    if order.yes:
        if not screen.as_json:
            _show(planning, screen)
        if planning.is_drafted:
            message = "a model wrote this plan, and nobody has seen it: --yes does not approve it"
            raise NotSo("plan_unseen", message, next_step(planning))
        return await planner.approve(planning.id, planning.shown, by=who())
    while asks and planning.status == "shown":
        _show(planning, screen)
        assert planning.shown is not None
        question = "Approve and run it? [yes/no, or say what to change] "
        said = answer_to(input, question).strip()
        if said.lower() in ("y", "yes"):
            return await planner.approve(planning.id, planning.shown, by=who())
        if said.lower() in ("", "n", "no"):
            break
        planning = await planner.answer(planning.id, {"change": said})
        while planning.status == "asking":
            planning = await planner.answer(planning.id, _asked(planning.questions, screen))
        if planning.status == "shown":
            _draw(planner, planning, order, screen)
    return planning


def _show(planning: Planning, screen: Screen) -> None:
    for part in shown(planning):
        screen.human.print(part, markup=False)


def _draw(planner: Planner, planning: Planning, order: Talk, screen: Screen) -> None:
    """Draw what is shown, beside the planning where no file is named."""
    picture = order.picture or planner.store.folder / f"{planning.id}.svg"
    draw_into(picture, dict(planning.workflow or {}))
    screen.say(f"Picture: {picture}")


def _answers(order: Talk) -> dict[str, Any]:
    answers: dict[str, Any] = dict(order.answers)
    if order.given is None:
        return answers
    value = read_input(order.given)
    if value.problems:
        raise BadInput(value.problems)
    if not isinstance(value.value, dict):
        message = "the input is no JSON object"
        raise BadInput([Problem("CLI_INPUT", message, file=value.file)])
    return {**answers, "input": value.value}
