"""A workflow told as a procedure: as it was, as it was edited, or as its states have it."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from small_market import small_market

from dcf.planner import Decompiled, compile_sop, decompile
from dcf.sop import Comparison, Constant, GoTo, Handler, Name, Retry, Sop, Stop, parse
from dcf.sop import print_markdown as printed

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / "workflows").glob("*.json"))
TEXT = """# Sell

## Objective

The order is paid.

## Inputs

- `order_id` (string)

## Steps

1. Work out the price
   - Writes: `amount_cents`
2. Is it much?
   - If `amount_cents` is over 100, stop with TooMuch: "it is `amount_cents`"
3. Charge the card
   - Within 2 minutes
4. Look twice
   - At the same time
   1. Tell the customer
   2. Check the order
"""


@pytest.fixture
def compiled(tmp_path: Path) -> tuple[Sop, dict[str, Any]]:
    sop = parse(TEXT, "sell.md").sop
    assert sop is not None
    document = compile_sop(sop, small_market(tmp_path)).document
    assert document is not None
    return sop, document


def test_what_nobody_edited_is_the_very_procedure(compiled: tuple[Sop, dict[str, Any]]) -> None:
    sop, document = compiled

    # As it comes back from a file.
    found = decompile(json.loads(json.dumps(document)))

    assert found == Decompiled(sop, "unchanged")


def test_an_edit_shows_in_its_step_and_nowhere_else(
    compiled: tuple[Sop, dict[str, Any]],
) -> None:
    sop, document = compiled
    edited = deepcopy(document)
    edited["asl"]["States"]["ChargeTheCard"]["TimeoutSeconds"] = 60
    edited["asl"]["States"]["ChargeTheCard"]["Retry"] = [
        {"ErrorEquals": ["Busy"], "MaxAttempts": 2, "IntervalSeconds": 3, "BackoffRate": 1.0}
    ]

    found = decompile(edited)

    assert found.origin == "edited"
    assert [
        step.number
        for step, before in zip(found.sop.all_steps(), sop.all_steps(), strict=True)
        if step != before
    ] == ["3"]
    charge = found.sop.steps[2]
    assert (charge.title, charge.deadline) == ("Charge the card", 60)
    assert charge.retries == (Retry(2, 3, 1.0, None, ("Busy",)),)
    assert found.sop.objective == sop.objective


def test_a_step_that_was_taken_out_is_gone(compiled: tuple[Sop, dict[str, Any]]) -> None:
    _, document = compiled
    edited = deepcopy(document)
    states = edited["asl"]["States"]
    del states["ChargeTheCard"]
    states["IsItMuch"]["Default"] = "LookTwice"

    found = decompile(edited)

    assert [step.title for step in found.sop.steps] == [
        "Work out the price",
        "Is it much?",
        "Look twice",
    ]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_the_examples_are_told_with_every_state_that_does_something(file: Path) -> None:
    document = json.loads(file.read_text("utf-8"))

    found = decompile(document)

    titles = {step.title.replace(" ", "").lower() for step in found.sop.all_steps()}
    working = [name for name, state in _states(document["asl"]) if state["Type"] == "Task"]
    assert found.origin == "foreign"
    assert [name for name in working if name.lower() not in titles] == []
    assert printed(found.sop).count("\n") > len(titles)


def test_plain_asl_is_told() -> None:
    machine = {
        "Comment": "Pays a bill.",
        "StartAt": "Pay",
        "States": {
            "Pay": {
                "Type": "Task",
                "Resource": "arn:aws:states:::lambda:invoke",
                "Parameters": {"amount.$": "$.bill.amount"},
                "ResultPath": "$.receipt",
                "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 4}],
                "Catch": [{"ErrorEquals": ["Declined"], "Next": "Refused"}],
                "Next": "IsItPaid",
            },
            "IsItPaid": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.receipt.ok", "BooleanEquals": True, "Next": "Rest"}],
                "Default": "Pay",
            },
            "Rest": {"Type": "Wait", "Seconds": 60, "End": True},
            "Refused": {"Type": "Fail", "Error": "Refused", "Cause": "the bank said no"},
        },
    }

    sop = decompile(machine).sop
    pay, paid, rest = sop.steps

    assert sop.objective == "Pays a bill."
    assert (pay.kind, paid.kind, rest.kind) == ("task", "decision", "wait")
    assert [(read.source, read.target) for read in pay.reads] == [("bill.amount", "amount")]
    assert [write.target for write in pay.writes] == ["receipt"]
    assert pay.retries == (Retry(4, 1, 2.0),)
    assert pay.handlers == (Handler(("Declined",), Stop("Refused", "the bank said no")),)
    assert paid.branches[0].condition == Comparison(Name("receipt.ok"), "==", Constant(True))
    assert paid.then == GoTo("1")


def test_a_condition_that_no_procedure_can_say_is_told_in_its_own_words() -> None:
    machine = {
        "QueryLanguage": "JSONata",
        "StartAt": "Many",
        "States": {
            "Many": {
                "Type": "Choice",
                "Choices": [{"Condition": "{% $sum($states.input.n) > 9 %}", "Next": "Yes"}],
                "Default": "No",
            },
            "Yes": {"Type": "Wait", "Seconds": 1, "End": True},
            "No": {"Type": "Wait", "Seconds": 2, "End": True},
        },
    }

    many = decompile(machine).sop.steps[0]

    assert many.text == "condition_1_1 stands for: $sum($states.input.n) > 9"
    assert many.branches[0].condition == Comparison(Name("condition_1_1"), "==", Constant(True))


def _told_again(states: dict[str, Any]) -> Sop:
    """The procedure of a machine that begins with its first state, once it was written and read."""
    machine = {"QueryLanguage": "JSONata", "StartAt": next(iter(states)), "States": states}
    sop = decompile(machine).sop
    read = parse(printed(sop), "told.md")
    assert read.sop == sop, [str(one) for one in read.problems]
    return sop


def test_an_error_that_no_procedure_can_name_is_named_like_it() -> None:
    sop = _told_again({"A": {"Type": "Fail", "Error": "skip step 3", "Cause": "as `is`"}})

    assert sop.steps[0].then == Stop("skip_step_3", "as 'is'")


def test_a_lane_that_does_nothing_is_told() -> None:
    nothing = {"StartAt": "Rest", "States": {"Rest": {"Type": "Succeed"}}}
    work = {"StartAt": "Work", "States": {"Work": {"Type": "Wait", "Seconds": 1, "End": True}}}

    sop = _told_again({"Both": {"Type": "Parallel", "Branches": [nothing, work], "End": True}})

    assert [lane.steps[0].kind for lane in sop.steps[0].lanes] == ["end", "wait"]


def test_a_cause_is_told_with_the_names_of_its_values() -> None:
    cause = "{% 'it is ' & $string($order.total) & ' \"net\"' %}"
    fail = {"Type": "Fail", "Error": "TooMuch", "Cause": cause}

    sop = decompile({"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": fail}}).sop

    assert sop.steps[0].then == Stop("TooMuch", 'it is `order.total` "net"')


def test_approvers_who_are_asked_in_turn_are_told_so() -> None:
    approval = {"required": True, "approvers": ["ana", "ben"], "only": True}
    sop = _told_again(
        {"Ask": {"Type": "Task", "AgentBinding": {"approval": approval}, "End": True}}
    )

    assert "one after another" in sop.steps[0].text


def _states(machine: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name, state in machine["States"].items():
        found.append((name, state))
        inner = [*state.get("Branches", ()), state.get("ItemProcessor")]
        found += [one for each in inner if each for one in _states(each)]
    return found
