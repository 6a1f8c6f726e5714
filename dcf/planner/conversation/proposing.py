"""From a source to what can be shown: compiled, validated, with its input and permissions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dcf.planner.conversation.bench import Bench, PlannedDraft
from dcf.planner.conversation.draft_report import drafted_outcome, report_lines
from dcf.planner.conversation.guidance import Guidance, Guide
from dcf.planner.conversation.permissions import permissions_of, shown_digest
from dcf.planner.conversation.planning import Planning
from dcf.planner.conversation.question import (
    BIND,
    OBJECTIVE,
    Question,
    answer_name,
    binding_questions,
    bound_by,
    draft_questions,
    input_of,
    input_questions,
    not_offered,
    texts_of,
    unused,
    wants_commands,
)
from dcf.planner.conversation.wishing import unnamed, with_guardrails
from dcf.problem import Problem, has_errors
from dcf.skills import SkillCatalog
from dcf.sop import Draft, NoDraft, parse, read_source
from dcf.workflow import (
    InvalidWorkflow,
    WorkflowDocument,
    blank_warning,
    load,
    open_blanks,
    validate,
)


@dataclass(frozen=True, slots=True)
class Compiled:
    """``document`` is None where ``problems`` have an error; ``plan`` has the steps and gaps where
    it was made of a procedure."""

    document: dict[str, Any] | None
    problems: tuple[Problem, ...]
    plan: dict[str, Any] | None = None
    chosen: tuple[str, ...] = ()


async def compile_source(
    source: Mapping[str, Any],
    answers: Mapping[str, Any],
    bench: Bench,
    guidance: Guidance,
    guide: Guide,
) -> Compiled:
    """The workflow of the procedure or runbook that is ``source``, with what the person named
    besides. What a model wrote, and what is to be ``strict``, has to be in our own form, with a
    skill for each step."""
    file, text = source["id"], source["text"]
    is_strict = source["drafted"] or source.get("strict", False)
    reading = parse(text, file)
    if reading.sop is None and is_strict:
        return Compiled(None, reading.problems)
    if reading.sop is not None and is_strict:
        draft = Draft(reading.sop, (), exact=True)
    else:
        try:
            said = {**source.get("answers", {}), **texts_of(answers)}
            runbook = await asyncio.to_thread(read_source, text.encode(), file)
            draft = await bench.draft(runbook, said)
        except NoDraft as refused:
            return Compiled(None, refused.problems)
    offered, lacking = None, None
    if wants_commands(answers) and source["drafted"]:
        lacking = _no_commands("what a model wrote runs no commands")
    elif wants_commands(answers):
        draft, offered = await bench.with_commands(draft)
        lacking = offered.not_covered()
    draft = replace(draft, sop=with_guardrails(draft.sop, answers.get("guardrails")))
    bind = bound_by(answers)
    made = await bench.plan(draft, guidance, guide, bind, people=not is_strict)
    problems = (
        *(reading.problems if draft.exact else ()),
        *unnamed(made.draft.sop, answers, drafted=source["drafted"]),
        *(one.at(file=file) for one in made.problems),
        *([lacking.at(file=file)] if lacking else []),
    )
    plan = made.plan.to_json()
    plan["gaps"] = [gap.to_json() for gap in made.gaps]
    plan["input_lines"] = {one.name: one.line for one in made.draft.sop.inputs if one.line}
    if not draft.exact or draft.questions or made.draft.sop != draft.sop:
        plan["runbook"] = _told(made, plan["steps"])
    if offered is not None:
        plan["commands"] = {**offered.to_json(), "report": list(offered.report())}
    chosen = tuple(ref for step in made.plan.steps for ref in step.skills)
    return Compiled(plan.pop("workflow"), problems, plan, chosen)


def _told(made: PlannedDraft, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept of a draft beside its plan."""
    fields = drafted_outcome(made.draft, steps)
    return {
        "executable": fields["executable"],
        "report": list(report_lines(made.draft, fields)),
        "questions": fields["questions"],
        "answered": fields["answered"],
    }


async def check_workflow(
    text: str, file: str, answers: Mapping[str, Any], bench: Bench
) -> Compiled:
    """The stored workflow in ``text``."""
    catalog = await bench.catalog()
    try:
        document = load(text, file=file, catalog=catalog)
    except InvalidWorkflow as invalid:
        return Compiled(None, tuple(invalid.problems))
    problems = list(document.warnings)
    if answers.get("guardrails"):
        problems.append(
            Problem(
                "PLAN_GUARDRAILS",
                "a stored workflow takes no further guardrails: they are not in it",
                hint="`dcf plan --decompile` makes a procedure of it, which takes them",
                severity="warning",
                file=file,
            )
        )
    if wants_commands(answers):
        problems.append(_no_commands("a stored workflow is run as it is").at(file=file))
    return Compiled(dict(document.raw), tuple(problems))


def _no_commands(why: str) -> Problem:
    return Problem(
        "PLAN_COMMANDS",
        f"{why}: no command becomes a task",
        hint="write the procedure, and plan with --from-sop FILE --commands",
        severity="warning",
    )


def proposed(planning: Planning, made: Compiled, catalog: SkillCatalog, now: int) -> Planning:
    """``planning`` with what would run. It is shown when nothing stands in the way, no input is
    missing, and then only."""
    planning = replace(
        planning,
        problems=tuple(one.to_dict() for one in made.problems),
        plan=made.plan,
        workflow=None,
        permissions=None,
        shown=None,
        approval=None,
        questions=(),
    )
    planning = planning.did(2, _discovered(made), now)
    if made.document is None:
        note = f"{sum(one.is_error for one in made.problems)} problems"
        return replace(planning.did(4, note, now), status="invalid")
    document = {**made.document, "workflow_id": planning.workflow_id}
    if planning.is_drafted:
        # Whoever finds the workflow where it is kept is to know that no person wrote it.
        document["plan"] = {**document.get("plan", {}), "drafted": True}
    problems = [*made.problems, *validate(document, catalog=catalog)]
    schema = document.get("workflow_input_schema")
    value, wrong = input_of(schema, planning.answers)
    bindings = [name for name in planning.answers if name.startswith(BIND)]
    runbook = (made.plan or {}).get("runbook", {"questions": (), "answered": ()})
    open_ = draft_questions(runbook["questions"])
    ids = (*runbook["answered"], *(one.name for one in open_))
    known = (*planning.clarifications, *bindings, *ids)
    problems += [*wrong, *unused(schema, planning.answers, known)]
    problems += not_offered(open_, planning.answers)
    asked = binding_questions((made.plan or {}).get("bindings", ()))
    lines = (made.plan or {}).get("input_lines", {})
    questions = [
        *(one for one in asked if one.name not in planning.answers),
        *input_questions(schema, planning.answers, lines),
        *open_,
    ]
    is_open = any(one.required for one in questions)
    if not is_open and not wrong:
        problems += _input_problems(document, value, lines)
    planning = replace(
        planning.did(4, f"{document['workflow_name']}: {len(_states(document))} states", now),
        problems=tuple(one.to_dict() for one in dict.fromkeys(problems)),
        workflow=document,
        input=value,
        questions=tuple(questions),
        permissions=permissions_of(document, catalog).to_json(),
    )
    if has_errors(problems):
        return replace(planning.did(5, "not clean", now), status="invalid")
    planning = planning.did(5, "no problems", now)
    if is_open:
        return replace(planning, status="asking")
    assert planning.workflow is not None
    assert planning.permissions is not None
    shown = shown_digest(planning.workflow, planning.input, planning.permissions)
    return replace(planning, status="shown", shown=shown)


def blank_questions(planning: Planning) -> list[Question]:
    """Those of the open questions of ``planning`` without an answer to which a person who does a
    step is shown a blank. Nobody has to answer them."""
    if planning.shown is None or planning.workflow is None:
        return []
    blanks = open_blanks(_loaded(planning.workflow), planning.input)
    names = {answer_name(one.name) for one in blanks}
    return [one for one in planning.questions if one.name in names]


def asking_objective(planning: Planning) -> Planning:
    """``planning`` that does not know yet what is wanted."""
    return replace(planning, status="asking", questions=(OBJECTIVE,))


def draft_text(proposal: Mapping[str, Any], objective: str) -> str:
    """A proposal of a model as the text of a procedure. The objective stays the person's."""
    kept = {name: one for name, one in proposal.items() if name != "$schema"}
    return json.dumps({**kept, "objective": objective}, ensure_ascii=False, indent=2) + "\n"


def _discovered(made: Compiled) -> str:
    names = dict.fromkeys(made.chosen)
    if names:
        return f"chose {', '.join(names)}"
    return "the workflow names its skills" if made.plan is None else "no skill was chosen"


def _input_problems(
    document: Mapping[str, Any], value: Any, lines: Mapping[str, int]
) -> list[Problem]:
    try:
        found = _loaded(document)
    except InvalidWorkflow:
        return []  # said already, with the skills
    blank = blank_warning(found, value, lines)
    return [*found.check_input(value), *filter(None, (blank,))]


def _loaded(document: Mapping[str, Any]) -> WorkflowDocument:
    return load(json.dumps(document, ensure_ascii=False), file="workflow")


def _states(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document["asl"]["States"]
    return found
