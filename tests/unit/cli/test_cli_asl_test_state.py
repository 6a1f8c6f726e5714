"""``dcf asl test-state``: stages, next state, what Retry and Catch do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcf.cli import main

Run = Callable[..., tuple[int, str, str]]

PAY: dict[str, Any] = {
    "Type": "Task",
    "Resource": "arn:aws:states:::lambda:invoke",
    "InputPath": "$.order",
    "Parameters": {"FunctionName": "pay", "Payload.$": "$.id"},
    "ResultSelector": {"paid.$": "$.Payload"},
    "ResultPath": "$.bank",
    "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 4, "MaxAttempts": 2, "BackoffRate": 3}],
    "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Sorry"}],
    "Next": "Ship",
}
INPUT = ("--input", '{"order": {"id": 7}, "n": 1}')


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    def run_it(definition: Any, *arguments: str) -> tuple[int, str, str]:
        file = tmp_path / "state.json"
        file.write_text(json.dumps(definition))
        with pytest.raises(SystemExit) as end:
            main(["asl", "test-state", str(file), *arguments])
        told = capsys.readouterr()
        return int(str(end.value.code)), told.out, told.err

    return run_it


def test_every_stage_of_the_data_flow_is_told(run: Run) -> None:
    code, out, _ = run(PAY, *INPUT, "--result", '{"Payload": true}', "--json")

    assert code == 0
    test = json.loads(out)["test"]
    assert test["status"] == "SUCCEEDED"
    assert test["next_state"] == "Ship"
    assert test["output"] == {"order": {"id": 7}, "n": 1, "bank": {"paid": True}}
    assert test["inspection"] == {
        "input": {"order": {"id": 7}, "n": 1},
        "afterInputPath": {"id": 7},
        "afterParameters": {"FunctionName": "pay", "Payload": 7},
        "result": {"Payload": True},
        "afterResultSelector": {"paid": True},
        "afterResultPath": {"order": {"id": 7}, "n": 1, "bank": {"paid": True}},
    }


def test_people_see_the_stages_as_a_table_and_the_next_state(run: Run) -> None:
    _, out, _ = run(PAY, *INPUT, "--result", '{"Payload": true}')
    for part in ("afterResultSelector", '{"paid": true}', "SUCCEEDED, next: Ship"):
        assert part in out


def test_at_level_info_there_are_no_stages(run: Run) -> None:
    _, out, _ = run(PAY, *INPUT, "--result", '{"Payload": 1}', "--level", "info", "--json")
    assert json.loads(out)["test"]["inspection"] == {}


def test_an_error_is_tried_again_until_retry_is_used_up_and_then_caught(run: Run) -> None:
    code, out, err = run(PAY, *INPUT, "--error", "Busy", "--retries", "1", "--json")
    assert code == 1
    assert json.loads(out)["test"]["status"] == "RETRIABLE"
    # 4 s before the first retry, three times as long before the second.
    assert json.loads(out)["test"]["retry_after_s"] == 12
    assert "RETRIABLE" in err

    code, out, _ = run(
        PAY, *INPUT, "--error", "Busy", "--cause", "later", "--retries", "2", "--json"
    )
    test = json.loads(out)["test"]
    assert (code, test["status"], test["next_state"]) == (0, "CAUGHT_ERROR", "Sorry")
    assert test["output"]["e"] == {"Error": "Busy", "Cause": "later"}


def test_a_state_of_a_machine_is_found_by_name_with_its_variables(run: Run) -> None:
    machine = {
        "QueryLanguage": "JSONata",
        "StartAt": "A",
        "States": {
            "A": {"Type": "Pass", "Next": "B"},
            "B": {
                "Type": "Pass",
                "Output": "{% $n + 1 %}",
                "Assign": {"m": "{% $n * 10 %}"},
                "End": True,
            },
        },
    }

    code, out, _ = run(machine, "--state", "B", "--variables", '{"n": 4}')

    assert code == 0
    assert 'the machine ends, assigned: {"m": 40}' in out
    assert out.endswith("5\n")
    assert run({"workflow_name": "w", "asl": machine})[0] == 0


def test_a_test_that_makes_no_sense_is_bad_input_with_a_hint(run: Run) -> None:
    code, _, err = run(PAY, *INPUT)
    assert code == 2
    assert "--result or --error" in err
    for wrong in (
        ("--result", "1", "--error", "Busy"),
        ("--result", "1", "--context", "[]"),
        ("--result", "1", "--variables", "{no json"),
        ("--result", "1", "--context", '{"Nonsense": {}}'),
    ):
        assert run(PAY, *INPUT, *wrong)[0] == 2
    assert run([])[0] == 2


def test_problems_of_a_state_alone_have_their_place_in_its_file(run: Run) -> None:
    code, out, _ = run({**PAY, "Resourc": 1}, "--json")
    assert code == 2
    problem = json.loads(out)["problems"][0]
    assert (problem["path"], problem["line"]) == ("/Resourc", 1)


def test_a_state_that_is_not_there_is_named(run: Run) -> None:
    inner = {"StartAt": "Fetch", "States": {"Fetch": {"Type": "Pass", "End": True}}}
    fan = {"Type": "Map", "ItemProcessor": inner, "End": True}
    machine = {"StartAt": "Fan", "States": {"Fan": fan}}

    code, _, err = run(machine, "--state", "Fetsch")

    assert code == 2
    assert "there is no state `Fetsch`" in err
    assert "did you mean `Fetch`?" in err
    assert "--result" not in err


def test_a_file_with_one_state_needs_no_name(run: Run) -> None:
    code, _, err = run(PAY, "--state", "Pay", *INPUT, "--result", "{}")
    assert code == 2
    assert "the file is one state" in err
    assert "leave out --state" in err


def test_a_state_that_waits_for_a_token_is_given_one(run: Run) -> None:
    state = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
        "Parameters": {"MessageBody": {"token.$": "$$.Task.Token"}},
        "End": True,
    }
    code, out, _ = run(state, "--result", "1", "--json")
    assert code == 0
    stages = json.loads(out)["test"]["inspection"]
    assert len(stages["afterParameters"]["MessageBody"]["token"]) > 20


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (("--result", "1", "--context", '{"Nonsense": {}}'), "mend --context"),
        (("--result", '{"StatusCode": "x"}'), "--no-schema"),
        ((), "--result or --error"),
    ],
)
def test_the_hint_is_about_what_is_wrong(run: Run, wrong: tuple[str, ...], hint: str) -> None:
    code, _, err = run(PAY, *INPUT, *wrong)
    assert code == 2
    assert hint in err


def test_a_value_that_is_no_json_is_named_by_its_option(run: Run) -> None:
    for option in ("--result", "--context", "--variables", "--items"):
        others = () if option == "--result" else ("--result", "1")
        assert option in run(PAY, *INPUT, *others, option, "{bad")[2]


def test_a_value_that_an_option_does_not_take_is_told_in_plain_words(run: Run) -> None:
    code, _, err = run(PAY, "--level", "loud")
    assert code == 2
    assert "'loud' is not one of 'info', 'debug', 'trace'" in err
    assert "Value error" not in err


def test_every_bad_option_is_told_at_once_with_the_state_s_problems(run: Run) -> None:
    bad = ("--input", "{", "--context", "[]", "--variables", "{,}", "--items", "{}")
    code, out, _ = run({"Type": "Pass", "End": 1}, *bad, "--error", "E", "--result", "1", "--json")

    assert code == 2
    files = [Path(problem["file"]).name for problem in json.loads(out)["problems"]]
    assert sorted(files) == [
        "--context",
        "--input",
        "--items",
        "--result",
        "--variables",
        "state.json",
    ]
