"""Cases are run by what they ask for; nothing that fails hides another."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from conformance_builders import PASS, case

from dcf.conformance import Job, Outcome, judge, run_case, run_corpus
from dcf.conformance.pure import PureExecutor


def test_results_come_in_the_order_of_cases_from_several_processes() -> None:
    cases = [
        case(name=str(n), input=n, expected={"status": "SUCCEEDED", "output": n}) for n in range(7)
    ]

    results = list(run_corpus(cases, jobs=2))

    assert [(result.name, result.output) for result in results] == [(str(n), n) for n in range(7)]


def test_an_execution_sees_names_as_aws_gives_them() -> None:
    seen: list[Job] = []

    class Watching(PureExecutor):
        def execute(self, job: Job) -> Outcome:
            seen.append(job)
            return super().execute(job)

    run_case(case(input={"a": 1}), Watching())
    run_case(case(type="EXPRESS"), Watching())
    run_case(case(last_validated="2023-06-22T11:00:00+00:00"), Watching())

    standard, express, old = (job.context["Execution"] for job in seen)
    assert standard["Input"] == {"a": 1}
    prefix = "arn:aws:states:us-east-1:111111111111"
    assert standard["Id"] == f"{prefix}:execution:machine:{standard['Name']}"
    assert standard["RedriveCount"] == 0
    assert express["Id"].startswith(f"{prefix}:express:machine:{express['Name']}:")
    assert "RedriveCount" not in express
    assert "RedriveCount" not in old
    assert seen[0].context["StateMachine"]["Id"] == f"{prefix}:stateMachine:machine"
    assert all(job.aws_limits for job in seen)


def test_mismatched_arguments_stand_in_the_result() -> None:
    task = {"Type": "Task", "Resource": "r", "Parameters": {"a": 1}, "End": True}
    wanted = case(
        definition={"StartAt": "T", "States": {"T": task}},
        tasks={"r": {"kind": "replay", "calls": {"T": [{"input": {"a": 2}, "Return": 3}]}}},
        expected={"status": "SUCCEEDED", "output": 3},
    )

    result = run_case(wanted, PureExecutor())

    assert judge(wanted, result).exact
    assert result.to_json()["arguments_ok"] is False


def test_what_was_stopped_from_outside_is_not_tried() -> None:
    result = run_case(case(expected={"status": "ABORTED"}), PureExecutor())
    assert (result.status, result.is_skipped) == ("SKIP", True)


def test_a_definition_that_is_refused_is_no_crash() -> None:
    broken = {"StartAt": "Nowhere", "States": {"S": {"Type": "Succeed"}}}
    assert run_case(case(definition=broken), PureExecutor()).status == "INVALID"


def test_a_crash_of_the_program_is_a_result_of_its_own() -> None:
    class Broken(PureExecutor):
        def execute(self, job: Job) -> Outcome:
            raise RuntimeError("boom")

    result = run_case(case(), Broken())

    assert result.status == "ERROR"
    assert result.cause == "RuntimeError: boom"


def test_definitions_are_checked_as_value_and_as_text() -> None:
    def status(op: Any, **request: Any) -> str:
        wanted = case(op, **request)
        wanted = replace(wanted, definition_text=request.get("definition_text"))
        return run_case(wanted, PureExecutor()).status

    dangling = {"StartAt": "P", "States": {"P": {"Type": "Pass", "Next": "Nowhere"}}}
    assert status("create") == "VALID"
    assert status("create", definition=dangling) == "INVALID"
    assert status("validate", definition=PASS) == "VALID"
    assert status("validate", definition_text="not JSON") == "INVALID"


def test_variable_references_are_by_state() -> None:
    state = {"Type": "Pass", "Output": "{% $a + $b %}", "End": True}
    definition = {"QueryLanguage": "JSONata", "StartAt": "P", "States": {"P": state}}
    wanted = case(
        "variable_references",
        definition=definition,
        expected={"status": "VALID", "variableReferences": {"P": ["a", "b"]}},
    )
    assert judge(wanted, run_case(wanted, PureExecutor())).exact


def test_a_refused_label_is_told_in_the_form_that_recordings_have() -> None:
    machine = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    map_ = {"Type": "Map", "Label": "", "End": True}
    map_["ItemProcessor"] = {"ProcessorConfig": config, **machine}
    definition = {"StartAt": "M", "States": {"M": map_}}

    [result] = run_corpus([case("create", definition=definition)])

    text = json.dumps(definition)
    assert (
        result.cause == f"Error=ValueError Args=['Label cannot be empty'] in definition '{text}'."
    )
