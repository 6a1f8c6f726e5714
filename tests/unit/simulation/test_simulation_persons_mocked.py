"""Where nobody is asked: manual tasks and approvals of a workflow that is tried or simulated."""

from __future__ import annotations

import json
from typing import Any

from dcf import asl
from dcf.cli.mocks_input import assumed_answers, mocks_value
from dcf.simulation import WorkflowWorld

LOOK = {
    "Type": "Task",
    "Comment": "Does it answer?",
    "AgentBinding": {"manual": {"by": ["dba"], "choices": ["yes", "no"]}},
    "TimeoutSeconds": 60,
}
INNER = {"StartAt": "Look", "States": {"Look": {**LOOK, "End": True}}}
FLOW = {
    "StartAt": "Each",
    "States": {
        "Each": {"Type": "Map", "ItemProcessor": INNER, "ResultPath": "$.looked", "Next": "Pay"},
        "Pay": {
            "Type": "Task",
            "Resource": "bank:pay",
            "AgentBinding": {"approval": {"required": True}},
            "End": True,
        },
    },
}
MACHINE = asl.parse(FLOW)
ASSUMED = {"answer": "yes", "by": "dba", "note": "assumed", "at": 0}


def test_without_a_mock_the_first_choice_is_assumed_and_told() -> None:
    value = mocks_value('{"resources": {"bank:pay": {"return": 1}}}', MACHINE)

    assert value["states"] == {"Look": {"return": ASSUMED}}
    assert value["resources"] == {"bank:pay": {"return": 1}}
    (told,) = assumed_answers(value, MACHINE)
    assert told.startswith("Look is a manual task: assumed is {")


def test_what_a_mock_says_is_not_assumed() -> None:
    for name in ("Look", "Each/1/Look"):
        mocks: dict[str, Any] = {"states": {name: {"return": {"answer": "no"}}}}
        value = mocks_value(json.dumps(mocks), MACHINE)
        assert value == mocks
        assert assumed_answers(value, MACHINE) == []


def test_an_approval_on_its_own_is_assumed_too() -> None:
    asked = {"approval": {"required": True, "only": True}}
    state = {"Type": "Task", "AgentBinding": asked, "End": True}
    machine = asl.parse({"StartAt": "Agree", "States": {"Agree": state}})

    value = mocks_value(None, machine)

    assert value["states"]["Agree"]["return"]["reason"] == "assumed"
    (told,) = assumed_answers(value, machine)
    assert told.startswith("Agree is an approval: assumed is {")


def test_a_simulated_run_waits_for_nobody() -> None:
    mocks = mocks_value('{"states": {"Pay": {"return": "paid"}}}', MACHINE)
    flow = json.loads(json.dumps(FLOW).replace('"$.looked"', "null"))
    world = WorkflowWorld("flow", json.dumps(flow), "[1, 2]", json.dumps(mocks))

    assert world.expectation().output == "paid"
    found = world.simulate(3, steps=2_000)
    assert (found.violations, found.unmocked) == ((), ())
