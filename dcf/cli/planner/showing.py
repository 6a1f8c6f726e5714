"""A planning as people see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT, FAILED, OK
from dcf.cli.plan_steps import plan_steps
from dcf.cli.planner.procedure import input_table, procedure_text
from dcf.cli.runbook import question_lines
from dcf.cli.trouble import listed, summary
from dcf.planner import Planning
from dcf.problem import Problem

_FAILS = {"unmatched": FAILED, "invalid": BAD_INPUT, "drafting": FAILED}


def answer_of(planning: Planning) -> Answer:
    """The planning as it stands, with what comes next."""
    problems = problems_of(planning)
    fields = fields_of(planning)
    show = [*shown(planning), Text(next_step(planning), "bold")]
    if planning.status not in _FAILS:
        code = BAD_INPUT if planning.status == "asking" else OK
        note = None
        if code != OK:
            names = ", ".join(one.name for one in planning.questions if one.required)
            note = ErrorNote("plan_asks", f"answers are missing: {names}", next_step(planning))
        return Answer(fields, show, planning.status, note, code)
    errors = [one for one in problems if one.is_error]
    text = errors[0].message if len(errors) == 1 else summary(problems)
    hint = errors[0].hint if len(errors) == 1 else next_step(planning)
    details = () if len(errors) == 1 else listed(problems)
    note = ErrorNote(f"plan_{planning.status}", text, hint, details)
    return Answer(fields, shown(planning), planning.status, note, _FAILS[planning.status])


def fields_of(planning: Planning) -> dict[str, Any]:
    """What scripts get."""
    known = planning.to_json()
    left_out = ("rounds", "source", "status", "id")
    source = planning.source or {}
    return {
        "planning_id": planning.id,
        **{name: value for name, value in known.items() if name not in left_out},
        "source": {name: source.get(name) for name in ("kind", "id", "title")} if source else None,
        "drafts": len(planning.rounds),
        "steps": planning.steps(),
    }


def problems_of(planning: Planning) -> list[Problem]:
    """What was found wrong."""
    return [Problem(**one) for one in planning.problems]


def shown(planning: Planning) -> list[Any]:
    """The plan: what it is made of, its steps, what it may do and cost, what earlier runs say. What
    can be approved is shown in full: the approval is for all of it."""
    parts: list[Any] = [Text(f"Planning {planning.id}: {planning.objective}", "bold")]
    source = planning.source
    if source is not None:
        kind = "drafted by a model: " if planning.is_drafted else ""
        parts.append(Text(f"Made of {kind}{source['title']} ({source['id']})"))
    if planning.plan is not None:
        parts.append(plan_steps(planning.plan["steps"]))
        parts += [Text(line) for line in _runbook(planning.plan)]
    elif planning.workflow is not None:
        parts.append(_states(planning.workflow))
    if planning.shown is not None:
        parts += ["", procedure_text(planning), "", input_table(planning), ""]
    if planning.permissions is not None:
        parts += [Text(line) for line in _permissions(planning)]
    parts += [Text(line, "dim") for line in _guidance(planning.guidance)]
    if planning.status not in _FAILS:
        parts += [Text(_noted(one), "yellow") for one in problems_of(planning)]
    if planning.questions and planning.status == "asking":
        parts.append(_questions(planning))
    if planning.shown is not None:
        parts.append(Text(f"Digest of this plan: {planning.shown}"))
    return parts


def _noted(problem: Problem) -> str:
    return f"- {problem.message}" + (f" ({problem.hint})" if problem.hint else "")


def next_step(planning: Planning) -> str:
    """What the person can do now."""
    again = f"dcf plan --resume {planning.id}"
    match planning.status:
        case "asking" | "unmatched":
            names = [one.name for one in planning.questions if one.required]
            return f"{again} {' '.join(f'--answer {name}=…' for name in names)}".rstrip()
        case "shown":
            return f"{again} --approve {planning.shown}"
        case "approved" | "running" | "drafting":
            return again
        case "invalid":
            return f"{again} --answer name=value   (or mend the procedure and plan again)"
        case _:
            return f"dcf explain {planning.workflow_id}"


def _runbook(plan: Mapping[str, Any]) -> Iterator[str]:
    """What a runbook asks, and what became of it."""
    told = plan.get("runbook", {"questions": (), "report": ()})
    for question in told["questions"]:
        yield from question_lines(question)
    yield from told["report"]
    yield from plan.get("commands", {"report": ()})["report"]


def _states(workflow: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("state", "type", "skill"):
        table.add_column(heading, overflow="fold")
    for name, state in workflow["asl"]["States"].items():
        skills = (state.get("AgentBinding") or {}).get("skills") or ()
        table.add_row(Text(name), Text(state["Type"]), Text("\n".join(map(str, skills))))
    return table


def _permissions(planning: Planning) -> list[str]:
    allowed = planning.permissions or {}
    budget = ", ".join(f"{name} {most}" for name, most in allowed["budget"].items())
    past = planning.guidance.get("past")
    cost = f"{allowed['skill_tokens']:,} tokens of skills, highest tier {allowed['highest_tier']}"
    if past:
        mean = past["mean_cost_usd"]
        cost += f"; {past['runs']} earlier runs cost ${mean:.4f} on the mean"
    secrets = ", ".join(allowed["secrets"]) or "none"
    granted = [skill for skill, may in planning.allowed.items() if may]
    return [
        f"Risk: {allowed['risk']}; egress {allowed['egress']}; secrets {secrets}",
        f"Tools: {', '.join(allowed['tools']) or 'none'}",
        *([f"Told of files: {', '.join(allowed['files'])}"] if allowed.get("files") else []),
        f"Cost: {cost}; budget {budget or 'none'}",
        f"Approvals on the way: {', '.join(allowed['approvals']) or 'none'}",
        f"Agents: {', '.join(allowed['agents']) or 'of the worker'}",
        *([f"Allowed beyond your words: {', '.join(granted)}"] if granted else []),
    ]


def _guidance(guidance: Mapping[str, Any]) -> list[str]:
    if not guidance:
        return []
    lines = [f"Guidelines: {guidance['source']}"]
    if guidance["revision"]:
        count = sum(len(items) for items in guidance["items"].values())
        lines = [f"Guidelines: revision {guidance['revision']}, {count} items"]
        lines += [f"  warning: {one['warning']}" for one in guidance["items"].get("warnings", ())]
    past = guidance.get("past")
    if past:
        seconds = past["median_duration_ms"] / 1000
        lines.append(
            f"Runs like this one: {past['succeeded']} of {past['runs']} succeeded, "
            f"median {seconds:.3g} s"
        )
    return [*lines, *guidance["notes"]]


def _questions(planning: Planning) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("answer", "question", "needed", "example"):
        table.add_column(heading, overflow="fold")
    for one in planning.questions:
        choices = " | ".join(map(str, one.choices))
        example = choices or ("" if one.example is None else str(one.example))
        needed = "yes" if one.required else "no"
        table.add_row(*map(Text, (one.name, one.text, needed, example)))
    return table
