"""The planner: from an objective to a workflow that a person approved; procedures and workflows."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from control_plane import UnknownRun
from dcf.mcp.approval_token import check_approval_token
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import Refused, problem_view
from dcf.mcp.families.retrieval import project_context
from dcf.mcp.help import Obvious, Rare
from dcf.mcp.plan_answers import Checked, CompiledShown, Plannings, PlanShown, Told
from dcf.mcp.plan_view import planning_view
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.planner import (
    COMMANDS,
    Planning,
    decompile,
    drafted_outcome,
    report_lines,
    wants_commands,
)
from dcf.problem import Problem, has_errors
from dcf.sop import NoDraft, Source, parse, print_markdown, unfit_answers
from dcf.workflow import load, result, submit

PlanningId = Annotated[str, Obvious("Id of the planning.")]
Answers = Annotated[
    dict[str, Any] | None,
    "By name: inputs, outputs, guardrails, change, procedure (stored id, or new), input, commands.",
]
ContextTokens = Annotated[
    int | None,
    Rare("Of project files and memory that a model that drafts is told."),
    Alias("context"),
]
Procedure = Annotated[str, "Markdown or YAML."]


@tool("planner")
async def plan_start(
    platform: Platform,
    objective: Annotated[str, Obvious("What is to be achieved.")] = "",
    sop: Annotated[str | None, "Your procedure or runbook; else a stored one is found."] = None,
    answers_json: Answers = None,
    planner_agent_id: Annotated[str | None, "Whose guidelines count."] = None,
    context_tokens: ContextTokens = None,
) -> PlanShown:
    """Begin a planning: takes a procedure that fits, or refuses and names the nearest; compiles,
    validates, asks."""
    context = project_context(platform, context_tokens, "plan_start")
    planner = platform.plans.planner(planner_agent_id, context=context)
    procedure = None if sop is None else ("sop", sop)
    found = await planner.start(
        objective, answers_json, procedure=procedure, advised=planner_agent_id
    )
    return _shown(found)


@tool("planner")
async def plan_answer(
    platform: Platform,
    planning_id: PlanningId,
    answers_json: Annotated[dict[str, Any], "By name."],
    context_tokens: ContextTokens = None,
) -> PlanShown:
    """Answer what a planning asks, or change what was said."""
    context = project_context(platform, context_tokens, "plan_answer")
    planner = platform.plans.planner_of(planning_id, context=context)
    return _shown(await planner.answer(planning_id, answers_json))


@tool("planner")
async def plan_show(platform: Platform, planning_id: PlanningId) -> PlanShown:
    """Show a planning, led on where it was left, and its run."""
    planner = platform.plans.planner_of(planning_id, writes_waiting=False)
    return _shown(await _followed(platform, await planner.resume(planning_id)))


@tool("planner", strict=True)
async def plan_approve(
    platform: Platform,
    planning_id: PlanningId,
    digest: Annotated[str, "Of what the person saw."],
    approval_token: Annotated[str | None, "The server's DCF_APPROVAL_TOKEN."] = None,
) -> PlanShown:
    """Approve what a person saw; refused if it is different by now."""
    command = f"dcf plan --resume {planning_id} --approve {digest} --no-run"
    check_approval_token(platform, approval_token, command)
    planner = platform.plans.planner_of(planning_id)
    return _shown(await planner.approve(planning_id, digest, by="mcp, with the approval token"))


@tool("planner")
async def plan_run(platform: Platform, planning_id: PlanningId) -> PlanShown:
    """Start the run of an approved planning, once."""
    planner = platform.plans.planner()
    store = platform.store
    known = planner.store.read(planning_id)
    try:
        await store.run(known.workflow_id)
        is_there = True
    except UnknownRun:
        is_there = False
    planning, file = await planner.begin(planning_id, is_there=is_there)
    if not is_there:
        catalog = await platform.catalog()
        text = await asyncio.to_thread(file.read_text, encoding="utf-8")
        document = load(text, file=file.name, catalog=catalog)
        value = dict(planning.input)
        await submit(store, document, value, workflow_id=planning.workflow_id, catalog=catalog)
    steps = {
        7: f"run {planning.workflow_id}",
        8: f"by the workers of pool {store.pool}",
        9: "its first state is ready",
    }
    return _shown(await _followed(platform, planner.note(planning, steps)))


@tool("planner")
async def list_plans(
    platform: Platform, limit: Annotated[int, Obvious("At most so many."), Field(ge=1, le=500)] = 50
) -> Plannings:
    """List plannings, the newest first."""
    found, damaged = await asyncio.to_thread(platform.plans.planner().store.all)
    rows = [
        {
            "planning_id": one.id,
            "status": one.status,
            "objective": one.objective,
            "revision": one.revision,
            "workflow_id": one.workflow_id if one.approval else None,
        }
        for one in found[:limit]
    ]
    return {"plannings": rows, "warnings": [str(one) for one in damaged]}


@tool("planner")
async def check_sop(platform: Platform, sop: Procedure) -> Checked:
    """Say all that is wrong with a procedure, by line."""
    reading = await asyncio.to_thread(parse, sop)
    return {
        **_judged(reading.problems),  # type: ignore[typeddict-item]
        "title": reading.sop.title if reading.sop else None,
        "steps": [
            {"step": one.number, "title": one.title, "kind": one.kind, "line": one.line}
            for one in (reading.sop.all_steps() if reading.sop else ())
        ],
    }


@tool("planner")
async def compile_sop(
    platform: Platform,
    sop: Procedure,
    answers_json: Annotated[dict[str, str] | None, "By id of question; commands."] = None,
) -> CompiledShown:
    """Make a workflow of a procedure or any runbook; people do what no skill covers."""
    planner = platform.plans.planner(writes_waiting=False)
    answers = {name: one for name, one in (answers_json or {}).items() if name != COMMANDS}
    try:
        draft = await planner.bench.draft(Source(sop, "sop"), answers)
    except NoDraft as refused:
        return {**_judged(refused.problems), "workflow": None}  # type: ignore[typeddict-item]
    offered, lacking = None, None
    if wants_commands(answers_json or {}):
        draft, offered = await planner.bench.with_commands(draft)
        lacking = offered.not_covered()
    guidance = await planner.guide.consult()
    made = await planner.bench.plan(draft, guidance, planner.guide, {})
    noted = parse(sop).problems if draft.exact else ()
    told = made.plan.to_json()
    shown: CompiledShown = {
        **_judged(  # type: ignore[typeddict-item]
            (*noted, *unfit_answers(draft, answers), *made.problems, *filter(None, (lacking,)))
        ),
        **told,
        "gaps": [gap.to_json() for gap in made.gaps],
        "questions": [one.to_json() for one in made.draft.questions],
        "report": [
            *report_lines(made.draft, drafted_outcome(made.draft, told["steps"])),
            *(offered.report() if offered is not None else ()),
        ],
    }
    return shown


@tool("planner")
async def decompile_workflow(
    platform: Platform,
    workflow_json: Annotated[str, "Workflow document, or plain ASL."],
) -> Told:
    """Tell a workflow as a procedure."""
    document = load(workflow_json, file="workflow_json")
    told = await asyncio.to_thread(decompile, document.raw)
    return {"sop": print_markdown(told.sop), "origin": told.origin}


async def _followed(platform: Platform, planning: Planning) -> Planning:
    """A planning that runs, with its end if it is over and sealed."""
    if planning.status != "running":
        return planning
    planner = platform.plans.planner()
    try:
        run = await platform.store.run(planning.workflow_id)
    except UnknownRun:
        return planning
    if not run.is_over:
        return planner.note(planning, {10: f"it is {run.status}"})
    ended = await result(platform.store, planning.workflow_id)
    steps = {10: f"it ended: {run.status}", 13: run.status}
    if run.finalized_at is None:
        return planner.note(planning, steps)
    trail = str(platform.config.runs / planning.workflow_id)
    found = {"status": run.status, "output": ended.output, "audit_trail_path": trail}
    return planner.ended(planning, found, {**steps, 11: f"sealed as {run.status}", 12: trail})


def _shown(planning: Planning) -> PlanShown:
    problems = [Problem(**one) for one in planning.problems]
    view = planning_view(planning)
    if planning.status == "unmatched":
        [refusal] = problems
        raise Refused("no_match", refusal.message, hint=refusal.hint, **_plain(view))
    if planning.status in ("invalid", "drafting"):
        code = "invalid_plan" if planning.status == "invalid" else "draft_failed"
        seen = [problem_view(one) for one in problems if one.is_error]
        hint = next((one.hint for one in problems if one.is_error and one.hint), "")
        count = f"{len(seen)} problems; see problems"
        raise Refused(code, count, hint=hint, **{**_plain(view), "problems": seen})
    warnings = [problem_view(one) for one in problems]
    answer: PlanShown = {"status": planning.status, **view, "warnings": warnings}  # type: ignore[typeddict-item]
    return answer


def _plain(view: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in view.items() if name != "workflow"}


def _judged(problems: Any) -> dict[str, Any]:
    errors = [one for one in problems if one.is_error]
    is_bad = has_errors(problems)
    return {
        "status": "invalid" if is_bad else "valid",
        "error": f"invalid_sop: {len(errors)} problems" if is_bad else None,
        "problems": [problem_view(one) for one in errors],
        "warnings": [problem_view(one) for one in problems if not one.is_error],
    }


FAMILY = (
    plan_start,
    plan_answer,
    plan_show,
    plan_approve,
    plan_run,
    list_plans,
    check_sop,
    compile_sop,
    decompile_workflow,
)
