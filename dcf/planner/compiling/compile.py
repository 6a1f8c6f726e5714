"""From a procedure to a plan: choose, weave, put into a document, check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.planner.compiling.gap import Gap, domain_of, slug
from dcf.planner.compiling.gap_data import gap_data
from dcf.planner.compiling.market import Market
from dcf.planner.compiling.plan import Plan, PlannedStep, risk_of
from dcf.planner.compiling.procedure_machine import weave
from dcf.planner.compiling.provenance import provenance_of
from dcf.planner.compiling.read_check import UNDECIDED
from dcf.planner.compiling.task_state import budget
from dcf.planner.compiling.value_schema import input_schema
from dcf.planner.compiling.weaving import Weaving
from dcf.planner.compiling.work import Work, plan_work
from dcf.problem import Problem, has_errors
from dcf.skills import UnknownSkill
from dcf.skills.complexity import assess
from dcf.skills.discovery import price_of
from dcf.sop import Sop, Step, Value, check
from dcf.workflow import validate

SCHEMA_VERSION = "2.5.0"


def compile_sop(sop: Sop, market: Market) -> Plan:
    """The plan of ``sop``. Nothing in it is random or of today: the same procedure and the same
    market give the same bytes.

    Never raises for what the procedure says: ``problems`` has it all, by line, and ``document`` is
    None where one of them is an error. What ``dcf.sop.check`` refuses is not looked at further.
    """
    wrong = tuple(one for one in check(sop) if one.is_error)
    if wrong:
        return Plan(None, wrong, (), (), risk_of(()))
    works = plan_work(sop, market)
    weaving = Weaving(sop, works)
    machine = weave(weaving)
    domain = domain_of(sop)
    gaps = tuple(
        Gap(works[number].step, works[number].nearest, domain, data)
        for number, data in gap_data(weaving).items()
    )
    problems = [problem for work in works.values() for problem in work.problems]
    problems += [gap.problem for gap in gaps] + weaving.problems + _output_problems(sop, weaving)
    problems += [question.problem for question in weaving.questions]
    steps = tuple(
        _planned(step, works.get(step.number), weaving, market) for step in sop.all_steps()
    )
    document = None
    if not has_errors(problems):
        document = _document(sop, machine, steps, works)
        problems += validate(document, catalog=market.catalog)
        if has_errors(problems):
            document = None
    told = tuple(sorted(problems, key=_place))
    return Plan(document, told, steps, gaps, risk_of(steps), tuple(weaving.questions))


def _place(problem: Problem) -> tuple[int, str, str]:
    return problem.line or 0, problem.code, problem.message


def _document(
    sop: Sop, machine: Mapping[str, Any], steps: tuple[PlannedStep, ...], works: Mapping[str, Work]
) -> dict[str, Any]:
    name = slug(sop.title, "procedure", 64).replace("_", "-")
    used = dict.fromkeys(ref for step in steps for ref in step.skills)
    document: dict[str, Any] = {
        "workflow_schema_version": SCHEMA_VERSION,
        "workflow_id": name,
        "workflow_name": name,
        "version": "1.0.0",
        "description": sop.objective or sop.title,
        "workflow_input_schema": input_schema(sop),
        "skill_imports": [{"uri": f"skill://{ref}"} for ref in used],
    }
    if sop.budget is not None:
        document["budget"] = budget(sop.budget)
    asl: dict[str, Any] = {"Comment": sop.title, "QueryLanguage": "JSONata"}
    if sop.deadline is not None:
        asl["TimeoutSeconds"] = sop.deadline
    document["asl"] = {**asl, **machine}
    document["plan"] = provenance_of(sop, document["asl"], steps)
    return document


def _output_problems(sop: Sop, weaving: Weaving) -> list[Problem]:
    there = {one.name for one in sop.inputs} | weaving.written(sop.steps)
    return [_no_output(one, weaving) for one in sop.outputs if one.name not in there]


def _no_output(output: Value, weaving: Weaving) -> Problem:
    line = output.line or None
    lost = weaving.why_lost(output.name)
    if lost:
        message = f"`{output.name}` is an output, and {lost}"
        return Problem("PLAN_JOIN", message, hint=UNDECIDED, line=line)
    message = f"no step writes the output `{output.name}`"
    hint = f"write `{output.name}` in a step (not only inside a loop), or take it out"
    return Problem("PLAN_OUTPUT", message, hint=hint, line=line)


def _planned(step: Step, work: Work | None, weaving: Weaving, market: Market) -> PlannedStep:
    states = tuple(weaving.places.get(step.number, ()))
    given = tuple(weaving.given.get(step.number, {}).items())
    writes = tuple(sorted(weaving.written_by(step)))
    is_approved = step.approval is not None
    plain = PlannedStep(
        step.number, step.title, step.kind, step.line, states,
        given=given, writes=writes, approval=is_approved,
    )  # fmt: skip
    if work is None or work.choice is None:
        return plain
    skills = work.skills
    found = assess(skills)
    levels, reaches = ("low", "medium", "high"), ("none", "intranet", "internet")
    needed = _with_needed(market, work)
    return PlannedStep(
        step.number,
        step.title,
        step.kind,
        step.line,
        states,
        skills=tuple(f"{one.name}@{one.version}" for one in skills),
        why=work.choice.why,
        brief=work.choice.brief,
        named=work.choice.named,
        explored=any(one.explored for one in work.choice.versions),
        choices=tuple(one.choice.to_json() for one in work.choice.versions if one.choice),
        runners_up=work.choice.runners_up,
        given=given,
        writes=writes,
        tier=max(found.adjusted_tier, step.tier or 0),
        fcs=found.score.fcs,
        risk=max((one.permissions.risk_level for one in needed), key=levels.index),
        egress=max((one.permissions.egress for one in needed), key=reaches.index),
        secrets=tuple(sorted({name for one in needed for name in one.permissions.secrets})),
        approval=is_approved,
        tokens=sum(price_of(one).tokens for one in skills),
        budget=budget(step.budget) if step.budget is not None else None,
    )


def _with_needed(market: Market, work: Work) -> list[Any]:
    """The skills of a step and those that they need, as far as they are there."""
    found = []
    for skill in work.skills:
        try:
            found += market.catalog.with_dependencies(skill)
        except UnknownSkill:
            found.append(skill)  # the check of the document tells of what is missing
    return found
