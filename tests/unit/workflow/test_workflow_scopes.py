"""Variables, tolerated failures, object stores and limits through workers with leases."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    flow,
    mapping,
    parallel,
    passing,
    staged,
    task,
)

from control_plane import payload
from dcf import asl
from dcf.worker import TaskFailure
from dcf.workflow import explain, finalize, redrive


def spread(processor: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A distributed Map."""
    config = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    return mapping({**processor, **config}, **fields)


def reading(**names: str) -> dict[str, Any]:
    """A Pass that puts out variables."""
    return passing(Parameters={f"{name}.$": f"${variable}" for name, variable in names.items()})


@staged
async def test_children_see_the_variables_around_them_and_theirs_vanish(stage: Stage) -> None:
    inner = flow(I=passing(Assign={"y.$": "$"}), J=reading(x="x", y="y"))
    definition = flow(
        A=passing(Assign={"x": 1}),
        M=mapping(inner, ItemsPath="$.list", ResultPath="$.out"),
        B=parallel(flow(P=reading(x="x")), ResultPath="$.both"),
    )
    result = await stage.play(definition, {"list": [7, 8]})
    assert result.output == {
        "list": [7, 8],
        "out": [{"x": 1, "y": 7}, {"x": 1, "y": 8}],
        "both": [{"x": 1}],
    }
    assert (await stage.state("B")).variables == {"x": 1}


@staged
async def test_variables_that_nobody_assigns_are_encoded_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[Any] = []
    encode = payload.encode

    def counted(value: Any, **options: Any) -> payload.Payload:
        encoded.append(value)
        return encode(value, **options)

    monkeypatch.setattr(payload, "encode", counted)
    large = {"v": "x" * 300_000}
    definition = flow(
        A=passing(Assign=large),
        B=passing(),
        W={"Type": "Wait", "Seconds": 1},
        C=passing(),
        D=reading(v="v"),
    )
    assert (await stage.play(definition)).output == large
    assert encoded.count(large) == 2  # the variables of B, the output of D
    assert (await stage.state("D")).variables == (await stage.state("B")).variables


@staged
async def test_what_was_caught_is_told_without_a_cause_that_is_not_there(stage: Stage) -> None:
    asleep = flow(A=task(TimeoutSeconds=2, **catch("B")), B=passing())
    assert (await stage.play(asleep, {}, {"work": _sleep})).status == "succeeded"
    assert (await stage.store.outputs(RUN, ["A"]))["A"]["summary"] == "caught States.Timeout"


async def _sleep(_: Any) -> None:
    await asyncio.sleep(60)


@staged
async def test_a_frame_in_a_frame_sees_both(stage: Stage) -> None:
    innermost = flow(K=passing(Assign={"z": 3}), L=reading(x="x", y="y", z="z"))
    inner = flow(I=passing(Assign={"y": 2}), N=mapping(innermost, ItemsPath="$"))
    definition = flow(A=passing(Assign={"x": 1}), M=mapping(inner, ItemsPath="$"))
    result = await stage.play(definition, [[0]])
    assert result.output == [[{"x": 1, "y": 2, "z": 3}]]


@staged
async def test_the_history_names_what_was_assigned(stage: Stage) -> None:
    await stage.play(flow(A=passing(Assign={"b": 1, "a": 2}), B=passing()))
    told = [event for event in await stage.events() if "assigned" in event]
    assert [event["assigned"] for event in told] == [["a", "b"]]
    assert len(told[0]["variables"]) == 64


@staged
async def test_a_join_goes_on_with_what_it_tolerates(stage: Stage) -> None:
    work = Calls(lambda given: TaskFailure("Odd", "x") if given == 2 else given)
    definition = flow(
        M=spread(
            flow(T=task()),
            ItemsPath="$",
            ToleratedFailureCount=1,
            ResultSelector={"errors.$": "$[*].Error"},
        )
    )
    result = await stage.play(definition, [1, 2, 3], {"work": work})
    assert (result.status, result.output) == ("succeeded", {"errors": ["Odd"]})
    assert (await explain(stage.store, RUN)).reasons == []
    audit = await finalize(stage.store, RUN, by="test")
    assert (audit["final_status"], audit["states"]["failed"]) == ("succeeded", 1)


@staged
async def test_too_many_failures_are_one_error_and_a_redrive_tries_them_again(
    stage: Stage,
) -> None:
    broken = {2, 3}
    work = Calls(lambda given: TaskFailure("Odd", "x") if given in broken else given)
    definition = flow(M=spread(flow(T=task()), ItemsPath="$", ToleratedFailureCount=1))
    result = await stage.play(definition, [1, 2, 3], {"work": work})
    assert result.failure is not None
    assert result.failure.error == "States.ExceedToleratedFailureThreshold"
    broken.clear()
    await redrive(stage.store, RUN)
    assert (await stage.end()).output == [1, 2, 3]


@staged
async def test_items_are_read_and_results_written(stage: Stage) -> None:
    objects = asl.MemoryObjects({"shelf/in.json": b"[1, 2]"})
    reader = {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": {"InputType": "JSON"},
        "Parameters": {"Bucket": "shelf", "Key": "in.json"},
    }
    writer = {
        "Resource": "arn:aws:states:::s3:putObject",
        "Parameters": {"Bucket": "shelf", "Prefix": "out"},
    }
    definition = flow(M=spread(flow(T=passing()), ItemReader=reader, ResultWriter=writer))
    result = await stage.play(definition, {}, objects=objects)
    assert result.status == "succeeded"
    details = result.output["ResultWriterDetails"]
    assert details["Bucket"] == "shelf"
    manifest = json.loads(objects.objects[f"shelf/{details['Key']}"])
    done = objects.objects[f"shelf/{manifest['ResultFiles']['SUCCEEDED'][0]['Key']}"]
    assert [json.loads(entry["Output"]) for entry in json.loads(done)] == [1, 2]


@staged
async def test_an_object_that_is_not_there_can_be_caught(stage: Stage) -> None:
    reader = {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": {"InputType": "JSON"},
        "Parameters": {"Bucket": "shelf", "Key": "none.json"},
    }
    caught = catch("B", "States.ItemReaderFailed")
    definition = flow(M=spread(flow(T=passing()), ItemReader=reader, **caught), B=passing())
    result = await stage.play(definition, {})
    assert result.output["Error"] == "States.ItemReaderFailed"


@staged
async def test_limits_that_depend_on_data_count_from_the_first_lease(stage: Stage) -> None:
    async def never(_: Any) -> None:
        await asyncio.Event().wait()

    definition = flow(
        A=passing(Assign={"short": 3}),
        B=task(TimeoutSecondsPath="$.limit", **catch("C", ResultPath="$.why")),
        C=task(QueryLanguage="JSONata", TimeoutSeconds="{% $short %}"),
    )
    result = await stage.play(definition, {"limit": 7}, {"work": never})
    assert result.failure is not None
    assert result.failure.error == "States.Timeout"
    states = [await stage.state(name) for name in ("B", "C")]
    assert [state.raw["ctl"]["timeout_ms"] for state in states] == [7_000, 3_000]
    assert result.finished_at and result.started_at
    assert 10_000 <= result.finished_at - result.started_at < 11_000


@staged
async def test_the_context_counts_redrives(stage: Stage) -> None:
    broken = {True}
    work = Calls(lambda given: TaskFailure("Odd") if broken else given)
    shown = {"count.$": "$$.Execution.RedriveCount"}
    definition = flow(A=task(), B=passing(Parameters=shown))
    assert (await stage.play(definition, None, {"work": work})).status == "failed"
    broken.clear()
    await redrive(stage.store, RUN)
    assert (await stage.end()).output == {"count": 1}


@staged
async def test_jsonata_sees_the_context(stage: Stage) -> None:
    output = "{% $states.context.State.Name & $states.context.Execution.Name %}"
    definition = flow(A=passing(QueryLanguage="JSONata", Output=output))
    assert (await stage.play(definition)).output == f"A{RUN}"


@staged
async def test_with_the_limits_of_aws_a_large_output_is_an_error(stage: Stage) -> None:
    work = Calls(lambda _: "x" * 300_000)
    definition = flow(A=task(**catch("B", "States.DataLimitExceeded")), B=passing())
    result = await stage.play(definition, None, {"work": work}, aws_limits=True)
    assert result.output["Error"] == "States.DataLimitExceeded"


@staged
async def test_with_the_limits_of_aws_a_large_input_of_an_iteration_is_an_error(
    stage: Stage,
) -> None:
    selected = {"ItemsPath": "$.xs", "ItemSelector": {"a.$": "$.s", "b.$": "$.s"}}
    processor = {"StartAt": "P", "States": {"P": passing(Result=1, End=True)}}
    each = {"Type": "Map", "ItemProcessor": processor, **selected}
    definition = flow(A={**each, **catch("B", "States.DataLimitExceeded")}, B=passing())
    result = await stage.play(definition, {"xs": [1], "s": "x" * 150_000}, aws_limits=True)
    assert result.output["Error"] == "States.DataLimitExceeded"
