"""``dcf asl run`` as a user and as a script see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcf.cli import main

Run = Callable[..., tuple[int, str, str]]

PAY: dict[str, Any] = {
    "StartAt": "Pay",
    "States": {
        "Pay": {
            "Type": "Task",
            "Resource": "arn:aws:lambda:eu-west-1:1:function:pay",
            "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 60, "MaxAttempts": 1}],
            "Next": "Rest",
        },
        "Rest": {"Type": "Wait", "Seconds": 30 * 24 * 3600, "End": True},
    },
}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_it(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["asl", "run", *map(str, arguments)])
        told = capsys.readouterr()
        return int(str(end.value.code)), told.out, told.err

    return run_it


def write(folder: Path, name: str, value: Any) -> Path:
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_a_month_passes_at_once(run: Run, tmp_path: Path) -> None:
    machine = write(tmp_path, "pay.json", PAY)
    answers = [{"error": "Busy", "after": 5}, {"return": {"paid": True}}]
    mocks = write(tmp_path, "mocks.json", {"states": {"Pay": answers}})

    code, out, _ = run(
        machine,
        *("--input", '{"id": 1}', "--mocks", mocks, "--start", "2026-01-01T00:00:00Z", "--json"),
    )

    told = json.loads(out)
    assert code == 0
    assert told["status"] == "ok"
    assert told["execution"] == {
        "status": "SUCCEEDED",
        "output": {"paid": True},
        "error": None,
        "cause": None,
    }
    assert told["virtual_s"] == 5 + 60 + 30 * 24 * 3600
    moments = [(entry["path"], entry["moment"]) for entry in told["trace"]]
    assert moments[0] == (["Pay"], "entered")
    retry = next(entry for entry in told["trace"] if entry["moment"] == "retry")
    assert retry["value"] == {"Error": "Busy", "Cause": "", "Seconds": 60}
    assert moments[-1] == (["Rest"], "exited")
    assert told["trace"][0]["at"] == "2026-01-01T00:00:00.000Z"


def test_the_trace_is_a_table_with_nesting_times_and_values(run: Run, tmp_path: Path) -> None:
    inner = {"StartAt": "Hold", "States": {"Hold": {"Type": "Wait", "Seconds": 90, "End": True}}}
    state = {"Type": "Map", "ItemProcessor": inner, "End": True}
    machine = write(tmp_path, "fan.json", {"StartAt": "Fan", "States": {"Fan": state}})

    code, out, _ = run(machine, "--input", "[7]", "--trace", "table")

    assert code == 0
    for part in ("Fan", "  [0] Hold", "wait", "for 0:01:30", "+0:01:30", "SUCCEEDED after 0:01:30"):
        assert part in out


def test_the_trace_names_errors_that_are_caught_and_that_are_not(run: Run, tmp_path: Path) -> None:
    task = {"Type": "Task", "Resource": "pay", "End": True}
    catching = {**task, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Again"}]}
    definition = {"StartAt": "Pay", "States": {"Pay": catching, "Again": task}}
    mocks = write(tmp_path, "m.json", {"resources": {"*": {"error": "Busy", "cause": "later"}}})

    _, out, _ = run(write(tmp_path, "d.json", definition), "--mocks", mocks, "--json")

    told = [(e["path"], e["moment"], e["value"]) for e in json.loads(out)["trace"]]
    problem = {"Error": "Busy", "Cause": "later"}
    assert (["Pay"], "caught", problem) in told
    assert told[-1] == (["Again"], "failed", problem)


def test_without_trace_only_the_end_is_told(run: Run, tmp_path: Path) -> None:
    machine = write(tmp_path, "m.json", {"StartAt": "S", "States": {"S": {"Type": "Succeed"}}})
    code, out, _ = run(machine, "--input", '"x"', "--trace", "none")
    assert (code, out) == (0, 'SUCCEEDED after 0:00:00 of virtual time\n"x"\n')


def test_a_failed_execution_exits_with_1_and_says_why(run: Run, tmp_path: Path) -> None:
    state = {"Type": "Fail", "Error": "Shop.Closed", "Cause": "it is Sunday"}
    machine = write(tmp_path, "m.json", {"StartAt": "F", "States": {"F": state}})

    code, out, err = run(machine, "--json")

    assert code == 1
    told = json.loads(out)
    assert told["status"] == "failed"
    assert told["execution"]["error"] == "Shop.Closed"
    assert "FAILED: Shop.Closed: it is Sunday" in err


def test_a_task_without_mock_is_named_with_a_snippet_to_paste(run: Run, tmp_path: Path) -> None:
    code, _, err = run(write(tmp_path, "pay.json", PAY))
    assert code == 2
    assert "nothing is mocked for the Task `Pay`" in err
    assert '{"states": {"Pay": {"return": {}}}}' in err


def test_mocks_can_be_given_as_json(run: Run, tmp_path: Path) -> None:
    machine = write(tmp_path, "pay.json", PAY)

    code, out, _ = run(machine, "--mocks", '{"states": {"Pay": {"return": 7}}}', "--json")
    assert (code, json.loads(out)["execution"]["output"]) == (0, 7)

    code, out, _ = run(machine, "--mocks", '{"states": {"Pay": {"retrun": 7}}}', "--json")
    places = {(p["file"], p["path"], p["line"]) for p in json.loads(out)["problems"]}
    assert code == 2
    assert ("--mocks", "/states/Pay/retrun", 1) in places

    code, out, _ = run(machine, "--mocks", '{"states": {}}', "--json")
    assert [p["file"] for p in json.loads(out)["problems"]] == ["--mocks"]


def test_problems_of_a_yaml_mocks_file_have_line_and_column(run: Run, tmp_path: Path) -> None:
    mocks = write(
        tmp_path, "mocks.yaml", "states:\n  Pay:\n    - retrun: 1\n  Pya:\n    echo: true\n"
    )

    code, out, err = run(write(tmp_path, "pay.json", PAY), "--mocks", mocks, "--json")

    assert code == 2
    places = {(p["path"], p["line"]) for p in json.loads(out)["problems"]}
    assert places == {("/states/Pay/0/retrun", 3), ("/states/Pay/0", 3), ("/states/Pya", 4)}
    assert "did you mean `Pay`?" in err


def test_problems_of_machine_input_and_time_are_bad_input(run: Run, tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.json", {"StartAt": "Nowhere", "States": {}})
    good = write(tmp_path, "good.json", {"StartAt": "S", "States": {"S": {"Type": "Succeed"}}})

    assert run(bad)[0] == 2
    assert run(good, "--input", "{no json")[0] == 2
    assert run(good, "--objects", tmp_path / "missing")[0] == 2
    code, _, err = run(good, "--start", "yesterday")
    assert code == 2
    assert "2026-01-31T12:00:00Z" in err


def test_a_workflow_document_is_taken_too(run: Run, tmp_path: Path) -> None:
    definition = {"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}
    envelope = {"workflow_name": "w", "asl": definition}
    assert run(write(tmp_path, "w.json", envelope), "--input", "1")[0] == 0
    definition["StartAt"] = "Nowhere"

    code, out, _ = run(write(tmp_path, "w.json", envelope), "--json")

    assert code == 2
    assert json.loads(out)["problems"][0]["path"].startswith("/asl/StartAt")


def test_items_come_from_a_folder_and_results_go_there(run: Run, tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    (objects / "shelf").mkdir(parents=True)
    write(objects / "shelf", "books.json", [{"title": "Momo"}, {"title": "Krabat"}])
    pass_on = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    state = {
        "Type": "Map",
        "ItemReader": {
            "Resource": "arn:aws:states:::s3:getObject",
            "ReaderConfig": {"InputType": "JSON"},
            "Parameters": {"Bucket": "shelf", "Key": "books.json"},
        },
        "ItemProcessor": {
            **pass_on,
            "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
        },
        "ResultWriter": {
            "Resource": "arn:aws:states:::s3:putObject",
            "Parameters": {"Bucket": "done", "Prefix": "books"},
        },
        "End": True,
    }
    machine = write(tmp_path, "m.json", {"StartAt": "M", "States": {"M": state}})

    code, out, _ = run(machine, "--objects", objects, "--json")

    assert code == 0
    where = json.loads(out)["execution"]["output"]["ResultWriterDetails"]
    manifest = json.loads((objects / where["Bucket"] / where["Key"]).read_text())
    written = manifest["ResultFiles"]["SUCCEEDED"][0]["Key"]
    outputs = json.loads((objects / "done" / written).read_text())
    assert [json.loads(one["Output"])["title"] for one in outputs] == ["Momo", "Krabat"]


def test_a_trace_as_json_is_one_document_with_the_end_in_it(run: Run, tmp_path: Path) -> None:
    machine = write(tmp_path, "m.json", {"StartAt": "S", "States": {"S": {"Type": "Succeed"}}})

    code, out, _ = run(machine, "--input", '"x\x85y"', "--trace", "json")

    told = json.loads(out)
    assert code == 0
    assert told["execution"]["output"] == "x\x85y"
    assert [entry["moment"] for entry in told["trace"]] == ["entered", "exited"]


def test_durations_have_milliseconds_and_no_more(run: Run, tmp_path: Path) -> None:
    task = {"Type": "Task", "Resource": "t", "End": True}
    machine = write(tmp_path, "m.json", {"StartAt": "T", "States": {"T": task}})
    mocks = write(tmp_path, "k.json", {"resources": {"t": {"error": "No", "after": 1.167}}})
    _, out, _ = run(machine, "--mocks", mocks, "--trace", "none")
    assert out == "FAILED after 0:00:01.167 of virtual time\n"


def test_warnings_about_the_machine_are_told(run: Run, tmp_path: Path) -> None:
    state = {"Type": "Pass", "Parameters": {"id": "$.id"}, "End": True}
    machine = write(tmp_path, "m.json", {"StartAt": "A", "States": {"A": state}})

    code, out, err = run(machine, "--json")

    assert code == 0
    assert [one["path"] for one in json.loads(out)["warnings"]] == ["/States/A/Parameters/id"]
    assert "it is not evaluated" in err
    assert "it is not evaluated" in run(machine)[2]


def test_the_execution_is_named_without_the_suffixes_of_its_file(run: Run, tmp_path: Path) -> None:
    state = {"Type": "Pass", "OutputPath": "$$.StateMachine.Name", "End": True}
    machine = write(tmp_path, "shop.asl.json", {"StartAt": "P", "States": {"P": state}})
    assert json.loads(run(machine, "--json")[1])["execution"]["output"] == "shop"


def test_a_missing_object_gets_a_hint_where_objects_are(run: Run, tmp_path: Path) -> None:
    inner = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    state = {
        "Type": "Map",
        "ItemReader": {
            "Resource": "arn:aws:states:::s3:getObject",
            "ReaderConfig": {"InputType": "JSON"},
            "Parameters": {"Bucket": "shelf", "Key": "books.json"},
        },
        "ItemProcessor": {
            **inner,
            "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
        },
        "End": True,
    }
    machine = write(tmp_path, "m.json", {"StartAt": "M", "States": {"M": state}})

    _, out, _ = run(machine, "--json")
    told = json.loads(out)
    assert "--objects" in told["error"]["hint"]
    assert "DCF_OBJECTS" in told["error"]["hint"]
    assert "--objects" not in told["execution"]["cause"]

    assert str(tmp_path) in run(machine, "--objects", tmp_path)[2]


def test_yaml_that_is_none_is_a_problem_of_mocks(run: Run, tmp_path: Path) -> None:
    mocks = write(tmp_path, "mocks.yaml", "states: [\n")
    code, out, _ = run(write(tmp_path, "pay.json", PAY), "--mocks", mocks, "--json")
    assert code == 2
    assert {one["code"] for one in json.loads(out)["problems"]} == {"ASL_MOCK_YAML"}


def test_a_definition_that_aws_does_not_take_is_refused_as_when_it_is_validated(
    run: Run, tmp_path: Path
) -> None:
    definition = {"Comment": "x" * 1_048_576, "StartAt": "S", "States": {"S": {"Type": "Succeed"}}}
    code, out, _ = run(write(tmp_path, "m.json", definition), "--json")
    assert code == 2
    assert [one["code"] for one in json.loads(out)["problems"]] == ["ASL_TOO_LARGE"]


def test_inputs_that_a_workflow_declares_and_nobody_gives_are_named_before_the_run(
    run: Run, tmp_path: Path
) -> None:
    each = {"StartAt": "One", "States": {"One": {"Type": "Pass", "End": True}}}
    many = {"Condition": "{% $states.input.limit > 9 %}", "Next": "End"}
    definition = {
        "QueryLanguage": "JSONata",
        "StartAt": "Many",
        "States": {
            "Many": {"Type": "Choice", "Choices": [many], "Default": "Each"},
            "Each": {
                "Type": "Map",
                "Items": "{% $states.input.parts %}",
                "ItemProcessor": each,
                "Next": "End",
            },
            "End": {"Type": "Succeed"},
        },
    }
    parts = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "examples": [12]},
            "parts": {"type": "array", "items": parts},
            "note": {"type": "string"},
        },
        "required": ["limit", "parts"],
    }
    document = {"workflow_name": "sort", "workflow_input_schema": schema, "asl": definition}
    machine = write(tmp_path, "sort.json", document)

    code, out, err = run(machine)
    assert (code, out) == (2, "")
    assert "the input lacks `limit`, `parts` [WF_INPUT]" in err
    assert 'for example: {"limit": 12, "parts": [{"sku": "text"}]}' in err

    code, _, err = run(machine, "--input", '{"parts": []}')
    assert code == 2 and "lacks `limit` [WF_INPUT]" in err and "parts" not in err
    code, out, _ = run(machine, "--input", '{"limit": 1, "parts": [{"sku": "a"}]}')
    assert code == 0 and "SUCCEEDED" in out
    # A machine in plain ASL declares nothing: it is run.
    code, out, err = run(write(tmp_path, "plain.json", definition))
    assert code == 1 and "States.QueryEvaluationError" in out + err


def test_what_people_are_shown_as_a_blank_is_said_before_the_run(run: Run, tmp_path: Path) -> None:
    drain = {
        "Type": "Task",
        "Comment": "Drain <node> of <cluster>",
        "AgentBinding": {"manual": {}},
        "End": True,
    }
    schema = {"type": "object", "properties": {"node": {}, "cluster": {}}}
    document = {
        "workflow_name": "drain",
        "workflow_input_schema": schema,
        "asl": {"StartAt": "Drain", "States": {"Drain": drain}},
    }
    machine = write(tmp_path, "drain.json", document)

    code, _, err = run(machine)
    assert code == 0
    assert "2 inputs are not given" in err and "node (Drain), cluster (Drain)" in err

    code, out, err = run(machine, "--input", '{"node": "n1"}', "--json")
    assert code == 0
    assert [one["code"] for one in json.loads(out)["warnings"]] == ["WF_INPUT_BLANK"]

    _, _, err = run(machine, "--input", '{"node": "n1", "cluster": "c1"}')
    assert "WF_INPUT_BLANK" not in err
