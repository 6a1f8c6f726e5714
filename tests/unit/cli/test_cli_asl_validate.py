"""``dcf asl validate``: every problem of every file, in order of place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dcf.cli.exits import BAD_INPUT, OK
from dcf.cli.settings import Settings
from dcf.cli.validate import _check_definition, validate_definitions, validate_files

GOOD = {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}
BAD = {"StartAt": "B", "States": {"A": {"Type": "Pass", "Parameters": {"x.$": 1}, "End": "yes"}}}
CALLBACK = {
    "StartAt": "A",
    "States": {
        "A": {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "End": True,
        }
    },
}


def written(folder: Path, name: str, value: Any) -> Path:
    file = folder / name
    text = value if isinstance(value, str) else json.dumps(value, indent=2)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_good_definition_is_good(tmp_path: Path) -> None:
    answer = validate_definitions([written(tmp_path, "a.json", GOOD)], "STANDARD", False)

    assert answer.exit_code == OK
    assert answer.fields["problems"] == []


def test_all_problems_of_all_files_come_in_order_of_place(tmp_path: Path) -> None:
    files = [written(tmp_path, "b.json", BAD), written(tmp_path, "c.json", "{")]

    answer = validate_definitions(files, "STANDARD", False)

    places = [(p["file"], p["line"], p["code"]) for p in answer.fields["problems"]]
    assert answer.exit_code == BAD_INPUT
    assert places == [
        (str(files[0]), 2, "ASL_UNKNOWN_STATE"),
        (str(files[0]), 7, "ASL_BAD_TEMPLATE"),
        (str(files[0]), 9, "ASL_WRONG_TYPE"),
        (str(files[1]), 1, "ASL_JSON_SYNTAX"),
    ]


def test_workflows_are_told_in_order_of_place_too(tmp_path: Path) -> None:
    file = written(tmp_path, "flow.json", {"workflow_name": "flow", "asl": BAD})
    settings = Settings.from_env({"DCF_HOME": str(tmp_path), "DCF_GENERATED": str(tmp_path)})

    problems = validate_files([file], settings).fields["problems"]

    places = [(p["line"], p["column"]) for p in problems]
    assert len(places) > 2
    assert places == sorted(places)


def test_a_machine_written_as_yaml(tmp_path: Path) -> None:
    file = written(tmp_path, "a.yaml", "StartAt: A\nStates:\n  A: {Type: Succeed}\n")

    [problem] = validate_definitions([file], "STANDARD", False).fields["problems"]

    assert problem["code"] == "ASL_JSON_SYNTAX"
    assert "YAML, which is not read here" in problem["hint"]


def test_for_aws_an_unknown_ending_is_an_error(tmp_path: Path) -> None:
    resource = "arn:aws:states:::lambda:invoke.waitForTaskTokn"
    task = {"Type": "Task", "Resource": resource, "End": True}
    file = written(tmp_path, "a.json", {"StartAt": "A", "States": {"A": task}})

    here = validate_definitions([file], "STANDARD", False)

    assert here.exit_code == OK
    assert here.fields["warnings"] == 1
    assert validate_definitions([file], "STANDARD", True).exit_code == BAD_INPUT


def test_the_definition_in_a_workflow_document_is_checked_in_its_place(tmp_path: Path) -> None:
    file = written(tmp_path, "flow.json", {"workflow_name": "flow", "asl": BAD})

    problems = validate_definitions([file], "STANDARD", False).fields["problems"]

    assert [p["path"] for p in problems] == [
        "/asl/StartAt",
        "/asl/States/A/Parameters/x.$",
        "/asl/States/A/End",
    ]


def test_the_type_of_the_machine_counts(tmp_path: Path) -> None:
    file = written(tmp_path, "callback.json", CALLBACK)

    assert validate_definitions([file], "STANDARD", False).exit_code == OK
    express = validate_definitions([file], "EXPRESS", False)
    assert [p["code"] for p in express.fields["problems"]] == ["ASL_EXPRESS_UNSUPPORTED"]


def test_for_aws_extensions_are_errors(tmp_path: Path) -> None:
    task = {"Type": "Task", "Resource": "send-mail", "End": True}
    file = written(tmp_path, "a.json", {"StartAt": "A", "States": {"A": task}})

    assert validate_definitions([file], "STANDARD", False).exit_code == OK
    assert validate_definitions([file], "STANDARD", True).exit_code == BAD_INPUT


def test_a_text_longer_than_aws_takes_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "long.json", json.dumps(GOOD) + " " * 1_048_576)

    problems = validate_definitions([file], "STANDARD", False).fields["problems"]

    assert [p["code"] for p in problems] == ["ASL_TOO_LARGE"]


def test_what_strict_json_forbids_hides_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(
        '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": Infinity, "End": 1}}}'
    )

    codes = {problem.code for problem in _check_definition(file, "STANDARD", False)}

    assert codes == {"ASL_JSON_NOT_FINITE", "ASL_WRONG_TYPE"}
