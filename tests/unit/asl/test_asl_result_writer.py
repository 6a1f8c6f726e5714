"""ResultWriter: the results of a Map as files, or in another form."""

from __future__ import annotations

import json
from typing import Any

from asl_builders import machine_of, parsed, react, run, visit_of

from dcf.asl import (
    Execution,
    Failure,
    Joined,
    MemoryObjects,
    ResultsUnwritable,
    ResultsWritten,
    TaskFailed,
    TaskSucceeded,
    WriteResults,
    step,
)

ARN = "arn:aws:states:r:1:stateMachine:M"
CONTEXT = {"StateMachine": {"Id": ARN, "Name": "M"}}
TO_S3 = {
    "Resource": "arn:aws:states:::s3:putObject",
    "Parameters": {"Bucket": "out", "Prefix": "jobs"},
}


def writing(writer: dict[str, Any], **fields: Any) -> dict[str, Any]:
    processor = {
        **machine_of(P={"Type": "Task", "Resource": "work", "End": True}),
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    }
    return {"Type": "Map", "ResultWriter": writer, "ItemProcessor": processor, **fields}


def execute(
    writer: dict[str, Any], items: list[Any], **fields: Any
) -> tuple[Execution, dict[str, bytes]]:
    """Run a Map whose iterations double their item and fail on a string."""
    store = MemoryObjects()
    definition = machine_of(M=writing(writer, Label="L", End=True, **fields))

    def double(call: Any) -> TaskSucceeded | TaskFailed:
        if isinstance(call.arguments, str):
            return TaskFailed("E", "a string")
        return TaskSucceeded(call.arguments * 2)

    return run(definition, items, call_task=double, objects=store, context=CONTEXT), store.objects


def test_the_output_names_the_manifest_and_the_run() -> None:
    execution, files = execute(TO_S3, [1, 2])

    arn = execution.output["MapRunArn"]
    assert arn.startswith("arn:aws:states:r:1:mapRun:M/L:")
    key = f"jobs/{arn.rpartition(':')[2]}/manifest.json"
    assert execution.output["ResultWriterDetails"] == {"Bucket": "out", "Key": key}
    assert f"out/{key}" in files


def test_the_manifest_lists_the_files_of_each_status() -> None:
    execution, files = execute(TO_S3, [1, "x"], ToleratedFailureCount=1)

    details = execution.output["ResultWriterDetails"]
    manifest = json.loads(files[f"out/{details['Key']}"])
    folder = details["Key"].removesuffix("manifest.json")
    assert manifest["DestinationBucket"] == "out"
    assert manifest["MapRunArn"] == execution.output["MapRunArn"]
    assert manifest["ResultFiles"]["PENDING"] == []
    for status in ("SUCCEEDED", "FAILED"):
        (entry,) = manifest["ResultFiles"][status]
        assert entry["Key"] == f"{folder}{status}_0.json"
        assert entry["Size"] == len(files[f"out/{entry['Key']}"])


def file_of(files: dict[str, bytes], name: str) -> Any:
    (content,) = (content for key, content in files.items() if key.endswith(name))
    return content.decode()


def test_a_file_has_what_is_known_of_each_iteration() -> None:
    _, files = execute(TO_S3, [1, "x"], ToleratedFailureCount=1)

    (done,) = json.loads(file_of(files, "SUCCEEDED_0.json"))
    (failed,) = json.loads(file_of(files, "FAILED_0.json"))
    assert (done["Input"], done["Output"], done["Status"]) == ("1", "2", "SUCCEEDED")
    assert (failed["Input"], failed["Status"]) == ('"x"', "FAILED")
    assert (failed["Error"], failed["Cause"]) == ("E", "a string")
    assert done["StateMachineArn"] == f"{ARN}/L"
    assert done["ExecutionArn"] == f"arn:aws:states:r:1:execution:M/L:{done['Name']}"


def test_json_lines_have_one_result_a_line() -> None:
    config = {"OutputType": "JSONL", "Transformation": "COMPACT"}

    _, files = execute({**TO_S3, "WriterConfig": config}, [1, 2])

    assert file_of(files, "SUCCEEDED_0.jsonl") == "2\n4"


def test_without_a_place_the_results_change_in_the_output() -> None:
    assert execute({"WriterConfig": {"Transformation": "COMPACT"}}, [1, [2]])[0].output == [
        2,
        [2, 2],
    ]
    flat, files = execute({"WriterConfig": {"Transformation": "FLATTEN"}}, [1, [2]])
    assert (flat.output, files) == ([2, 2, 2], {})


def test_results_with_what_is_known_of_them() -> None:
    execution, _ = execute({"WriterConfig": {"Transformation": "NONE"}}, [1])

    told = execution.output[0]
    assert told["Output"] == "2"
    # input-output-resultwriter.html, "Transformation NONE"
    assert (told["RedriveCount"], told["RedriveStatus"]) == (0, "NOT_REDRIVABLE")
    assert told["RedriveStatusReason"] == "Execution is SUCCEEDED and cannot be redriven"


def test_a_failed_iteration_is_told_in_full_in_every_form() -> None:
    config = {"WriterConfig": {"Transformation": "FLATTEN"}}

    execution, _ = execute(config, ["x"], ToleratedFailurePercentage=100)

    assert execution.output[0]["Error"] == "E"


def test_the_files_are_the_same_whoever_asks() -> None:
    state, joined = parsed(writing(TO_S3)), Joined([1], {}, [1])

    first, second = (step(state, visit_of([1]), joined) for _ in range(2))

    assert isinstance(first, WriteResults)
    assert first == second


def test_the_output_goes_through_the_data_flow_once_the_files_are_written() -> None:
    state = writing(TO_S3, ResultSelector={"key.$": "$.ResultWriterDetails.Key"})
    asked = react(state, [1], Joined([1]))

    effect = react(state, [1], ResultsWritten(asked))

    assert effect.output == {"key": asked.output["ResultWriterDetails"]["Key"]}


def test_files_that_cannot_be_written_fail_the_map() -> None:
    effect = react(writing(TO_S3), [1], ResultsUnwritable("no such bucket"))

    assert effect == Failure("States.ResultWriterFailed", "no such bucket")


def test_a_writer_in_jsonata_has_arguments() -> None:
    writer = {
        "Resource": "arn:aws:states:::s3:putObject",
        "Arguments": {"Bucket": "{% $states.input[0] %}", "Prefix": "p"},
    }
    state = writing(writer, QueryLanguage="JSONata", Output="{% $states.result.MapRunArn %}")

    asked = react(state, ["bucket"], Joined([1]))

    assert asked.bucket == "bucket"
    assert react(state, ["bucket"], ResultsWritten(asked)).output == asked.output["MapRunArn"]
