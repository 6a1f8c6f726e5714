"""What all procedures of ``workflows/sops`` have in common, and what they show together."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dcf import workflow
from dcf.planner import Plan
from dcf.skills import SkillCatalog
from dcf.sop import (
    STEP_KINDS,
    AnyOf,
    Comparison,
    Continue,
    Finish,
    GoTo,
    Handler,
    Membership,
    Name,
    Not,
    Sop,
    Step,
    Stop,
    Value,
    parse,
)

WORKFLOWS = Path(__file__).parents[3] / "workflows"
FILES = sorted((WORKFLOWS / "sops").iterdir())
INPUTS = sorted((WORKFLOWS / "inputs").glob("*.json"))
README = (WORKFLOWS / "README.md").read_text("utf-8")
SOP_OF = {
    "alert": "security-incident",
    "claim": "insurance-claim",
    "cold": "cold-chain-excursion",
    "content": "content-publication",
    "invoice": "supplier-invoice",
    "machine": "machine-maintenance",
    "onboarding": "employee-onboarding",
    "receipt": "goods-receipt",
    "refund": "customer-refund",
    "sample": "lab-sample",
}
FOUND = {
    "cold-chain-excursion": {"2": "warehouse.quarantine_goods"},
    "content-publication": {
        "1": "research.find_sources",
        "3.1.1": "research.summarize_findings",
        "3.2.1": "research.compare_prices",
    },
    "customer-refund": {"3.1.1": "support.know_customer", "3.2.1": "support.check_delivery"},
    "employee-onboarding": {
        "1": "office.check_papers",
        "5.1.1": "operations.grant_access",
        "5.2.1": "warehouse.order_supplies",
    },
    "goods-receipt": {"1.1": "warehouse.check_line", "1.2": "warehouse.quarantine_goods"},
    "insurance-claim": {"1.1": "finance.check_cover", "3.1": "finance.value_damage"},
    "lab-sample": {"1": "laboratory.receive_sample", "3.2": "laboratory.judge_result"},
    "machine-maintenance": {"1": "operations.check_machine", "5": "warehouse.order_supplies"},
    "security-incident": {
        "1": "operations.assess_alert",
        "3.1.1": "operations.isolate_host",
        "3.2.1": "operations.lock_account",
        "3.3.1": "operations.collect_evidence",
    },
    "supplier-invoice": {"2": "finance.match_invoice", "8": "finance.schedule_payment"},
}

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def read(file: Path) -> Sop:
    reading = parse(file.read_text("utf-8"), file.name)
    assert reading.problems == ()
    assert reading.sop is not None
    return reading.sop


def has(wanted: Callable[[Step], object]) -> bool:
    """Whether any step of any procedure is so."""
    return any(wanted(step) for file in FILES for step in read(file).all_steps())


def has_handler(wanted: Callable[[Handler], object]) -> bool:
    return has(lambda step: any(wanted(handler) for handler in step.handlers))


def test_there_are_procedures_in_both_forms() -> None:
    forms = [file.suffix for file in FILES]

    assert forms.count(".md") >= 7
    assert forms.count(".yaml") >= 2


def test_together_they_have_every_kind_of_step() -> None:
    kinds = {step.kind for file in FILES for step in read(file).all_steps()}
    assert kinds == set(STEP_KINDS)


FEATURES: dict[str, Callable[[Step], object]] = {
    "a jump forward": lambda step: isinstance(step.then, GoTo),
    "a condition and its otherwise": lambda step: step.branches and isinstance(step.then, GoTo),
    "several conditions": lambda step: len(step.branches) > 1,
    "two conditions in one": lambda step: _conditions(step, AnyOf),
    "a negation": lambda step: _conditions(step, Not),
    "a choice among values": lambda step: _conditions(step, Membership),
    "a comparison of two names": lambda step: any(
        isinstance(one.condition, Comparison) and isinstance(one.condition.right, Name)
        for one in step.branches
    ),
    "an early end that is good": lambda step: isinstance(step.then, Finish),
    "a failure with a name and a cause": lambda step: (
        isinstance(step.then, Stop) and step.then.error and step.then.cause
    ),
    "a loop with a pace": lambda step: step.loop and step.loop.at_once not in (1, None),
    "named lanes": lambda step: any(lane.title for lane in step.lanes),
    "lanes without a name": lambda step: step.lanes and not step.lanes[0].title,
    "a wait by the data": lambda step: step.wait and isinstance(step.wait.seconds, Name),
    "a wait for a moment": lambda step: step.wait and step.wait.until,
    "retries of one error, with a longest pause": lambda step: any(
        one.errors and one.longest for one in step.retries
    ),
    "retries of any error": lambda step: any(not one.errors for one in step.retries),
    "a deadline": lambda step: step.deadline and step.kind == "task",
    "an approval with a deadline": lambda step: step.kind == "approval" and step.deadline,
    "an approval before work": lambda step: step.kind == "task" and step.approval,
    "an approval by any of two": lambda step: step.approval and len(step.approval.by) > 1,
    "a tier": lambda step: step.tier,
    "a budget": lambda step: step.budget,
    "a version of a skill": lambda step: any("@" in skill for skill in step.skills),
    "a step without a named skill": lambda step: step.kind == "task" and not step.skills,
    "a value under another name": lambda step: any(not one.is_plain for one in step.reads),
    "a member of a value": lambda step: any("." in one.source for one in step.reads),
}


def _conditions(step: Step, kind: type[object]) -> bool:
    return any(isinstance(one.condition, kind) for one in step.branches)


@pytest.mark.parametrize("wanted", FEATURES.values(), ids=FEATURES)
def test_together_they_show(wanted: Callable[[Step], object]) -> None:
    assert has(wanted)


@pytest.mark.parametrize("direction", [GoTo, Continue, Stop], ids=lambda kind: kind.__name__)
def test_together_they_handle_errors_in_every_way(direction: type[object]) -> None:
    assert has_handler(lambda handler: handler.errors and isinstance(handler.then, direction))


def test_together_they_handle_refusals_late_answers_and_whatever_else_fails() -> None:
    assert has_handler(lambda handler: "DCF.ApprovalRejected" in handler.errors)
    assert has_handler(lambda handler: "States.Timeout" in handler.errors)
    assert has_handler(lambda handler: not handler.errors)


@each_file
def test_it_says_for_whom_and_what_for(file: Path) -> None:
    sop = read(file)

    assert len(sop.objective) > 80
    assert sop.guardrails
    assert sop.roles
    assert all(role.description for role in sop.roles)
    assert {step.role for step in sop.all_steps() if step.role} <= {one.name for one in sop.roles}


@each_file
def test_every_value_is_described(file: Path) -> None:
    sop = read(file)

    assert sop.outputs
    assert [one.name for one in _values((*sop.inputs, *sop.outputs)) if not one.description] == []


def _values(values: tuple[Value, ...]) -> list[Value]:
    return [inner for value in values for inner in (value, *_values(value.members))]


@each_file
def test_it_has_a_row_in_the_readme(file: Path) -> None:
    assert f"](sops/{file.name})" in README


@pytest.mark.parametrize("sop", FOUND)
def test_a_step_that_names_no_skill_gets_the_right_one(
    sop: str, plan_of: Callable[[str], Plan]
) -> None:
    found = {
        step.number: step.skills[0].partition("@")[0]
        for step in plan_of(sop).steps
        if step.skills and not step.named
    }

    assert found == FOUND[sop]


def test_every_input_is_accepted_by_its_procedure(
    plan_of: Callable[[str], Plan], catalog: SkillCatalog
) -> None:
    problems = {}
    for file in INPUTS:
        sop = SOP_OF.get(file.stem.partition("-")[0])
        if sop is not None:
            document = workflow.load(json.dumps(plan_of(sop).document), file=sop, catalog=catalog)
            problems[file.stem] = document.check_input(json.loads(file.read_text("utf-8")))

    assert {name: found for name, found in problems.items() if found} == {}
    assert {SOP_OF[name.partition("-")[0]] for name in problems} == {file.stem for file in FILES}
