"""The runs of distributed Maps: who they are, what is told of their iterations."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    document_of,
    flow,
    mapping,
    passing,
    retry,
    staged,
    task,
)

from control_plane import Lease, Refusal, payload
from dcf import asl
from dcf.conformance.engine_run import open_engine
from dcf.conformance.executor import Job
from dcf.conformance.pure import PureExecutor
from dcf.worker import TaskFailure
from dcf.workflow import Choreographer, RunCache, redrive
from dcf.workflow.happening import happened

WRITER = {
    "Resource": "arn:aws:states:::s3:putObject",
    "Parameters": {"Bucket": "out", "Prefix": "p"},
}
RUN_ID = "{% $states.context.Execution.Id %}"


def spread(processor: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A distributed Map."""
    config = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
    return mapping({**processor, **config}, **fields)


def files(objects: asl.MemoryObjects, status: str) -> list[list[dict[str, Any]]]:
    """The result files of a status, by key."""
    found = sorted(key for key in objects.objects if f"/{status}_" in key)
    return [json.loads(objects.objects[key]) for key in found]


@staged
async def test_maps_that_start_at_one_moment_have_runs_of_their_own(stage: Stage) -> None:
    objects = asl.MemoryObjects()
    inner = spread(flow(P=passing()), ItemsPath="$.items", ResultWriter=WRITER)
    definition = flow(A=mapping(flow(B=mapping(flow(M=inner)))))
    result = await stage.play(definition, [[{"items": ["x"]}], [{"items": ["y"]}]], objects=objects)
    runs = {entry[0]["MapRunArn"] for entry in result.output}
    assert len(runs) == 2
    assert sorted(file[0]["Output"] for file in files(objects, "SUCCEEDED")) == ['"x"', '"y"']


@staged
async def test_a_redrive_goes_on_with_the_same_run(stage: Stage) -> None:
    broken, objects = {2}, asl.MemoryObjects()
    work = Calls(lambda given: TaskFailure("Odd") if given["i"] in broken else given)
    seen = {"i.$": "$", "id.$": "$$.Execution.Id"}
    definition = flow(M=spread(flow(T=task(Parameters=seen)), ResultWriter=WRITER))
    result = await stage.play(definition, [1, 2], {"work": work}, objects=objects)
    assert result.status == "failed"
    broken.clear()
    await redrive(stage.store, RUN)
    result = await stage.end()
    (done,) = files(objects, "SUCCEEDED")
    assert [json.loads(entry["Output"])["id"] for entry in done] == [
        entry["ExecutionArn"] for entry in done
    ]
    of_second = [given["id"] for given in work.given if given["i"] == 2]
    assert len(of_second) == 2
    assert len(set(of_second)) == 1


@staged
async def test_a_retry_is_a_new_run(stage: Stage) -> None:
    work = Calls(lambda given: TaskFailure("Odd") if work.count == 1 else given)
    definition = flow(
        M=spread(
            flow(T=task(Parameters={"id.$": "$$.Execution.Id"})),
            **retry("States.ExceedToleratedFailureThreshold", IntervalSeconds=1),
        )
    )
    assert (await stage.play(definition, [1], {"work": work})).status == "succeeded"
    assert len({given["id"] for given in work.given}) == 2


@staged
async def test_an_input_in_the_files_is_what_the_iteration_got(stage: Stage) -> None:
    objects = asl.MemoryObjects()
    work = Calls(lambda given: TaskFailure("Odd", "x") if given["i"] == 1 else given)
    definition = flow(
        M=spread(
            flow(T=task()),
            ItemSelector={"i": "{% $states.context.Map.Item.Index %}", "u": "{% $random() %}"},
            ResultWriter={**WRITER, "Arguments": WRITER["Parameters"]},
            ToleratedFailureCount=1,
        )
    )
    del definition["States"]["M"]["ResultWriter"]["Parameters"]
    definition["QueryLanguage"] = "JSONata"
    result = await stage.play(definition, ["a", "b"], {"work": work}, objects=objects)
    assert result.status == "succeeded"
    ((done,),) = files(objects, "SUCCEEDED")
    ((failed,),) = files(objects, "FAILED")
    given = sorted(work.given, key=lambda arguments: arguments["i"])
    assert [json.loads(entry["Input"]) for entry in (done, failed)] == given


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"ItemSelector": {"v.$": "$$.Map.Item.Value"}},
        {"ItemBatcher": {"MaxItemsPerBatch": 1}},
        {"ItemSelector": {"v.$": "$.none"}},
        {"ResultWriter": {"WriterConfig": {"Transformation": "NONE", "OutputType": "JSON"}}},
    ],
)
def test_failures_are_told_as_the_interpreter_tells_them(fields: dict[str, Any]) -> None:
    processor = flow(C=passing(), X={"Type": "Fail", "Error": "Q", "Cause": "why"})
    definition = flow(M=spread(processor, ToleratedFailurePercentage=100, **fields))
    job = Job(definition, [1, None], lambda _: asl.TaskSucceeded(None))
    machine = "arn:aws:states:us-east-1:1:stateMachine:m"
    execution = {"Id": "arn:aws:states:us-east-1:1:execution:m:e", "Name": "e"}
    named = {"Execution": execution, "StateMachine": {"Id": machine, "Name": "m"}}
    twin = open_engine("twin")
    try:
        found = twin.execute(replace(job, context=named))
    finally:
        twin.close()
    expected = PureExecutor().execute(replace(job, context=named))
    for record in expected.output:  # the engine counts no history events
        record["Cause"] = record["Cause"].replace(" (entered at the event id #2)", "")
    assert found.status == "SUCCEEDED"
    assert found == expected
    assert [set(record) >= {"Input", "InputDetails", "Error"} for record in found.output] == [
        True,
        True,
    ]


@staged
async def test_a_map_whose_workers_die_fails_with_that(stage: Stage) -> None:
    definition = flow(M=spread(flow(P=passing()), ToleratedFailureCount=1))
    state = document_of(definition).machine.states["M"]
    lease = Lease(RUN, "M", "t", 1, "w", 1, "Map", "state", 1, 1, 0, "i", [1], event="worker_lost")
    event = await happened(stage.store, lease, state)
    effect = asl.step(state, asl.Visit([1], {}), event)
    assert effect == asl.Failure(
        "DCF.WorkerLost",
        "as many worker processes as its limit allows died or vanished with this state",
    )


@staged
async def test_without_objects_a_listing_is_an_error_too(stage: Stage) -> None:
    reader = {
        "Resource": "arn:aws:states:::s3:listObjectsV2",
        "Parameters": {"Bucket": "shelf", "Prefix": ""},
    }
    definition = flow(M=spread(flow(T=passing()), ItemReader=reader, **catch("B")), B=passing())
    result = await stage.play(definition, {})
    assert result.output == {
        "Error": "States.ItemReaderFailed",
        "Cause": "this worker has no object store: set DCF_OBJECTS",
    }


@staged
async def test_only_an_opening_that_was_accepted_is_remembered(stage: Stage) -> None:
    """Two workers open an iteration with a random input; the first is too late."""
    told = "{% {'of': $states.context.Execution.Input, 'got': $states.input} %}"
    definition = flow(M=spread(flow(T=passing(Output=told)), ItemSelector={"u": "{% $random() %}"}))
    definition["QueryLanguage"] = "JSONata"
    await stage.submit(definition, [1])
    runs, (late, quick) = RunCache(stage.store), (_choreographer(stage, seed) for seed in (1, 2))

    async def lease(path: str) -> Lease:
        found = await stage.store.acquire(RUN, path, owner="w", ttl_ms=60_000)
        assert isinstance(found, Lease)
        return found

    async def advance(worker: Choreographer, held: Lease) -> Any:
        async def perform(_: Any) -> Any:
            raise AssertionError("there are no Tasks")

        return await worker.advance(await runs.get(RUN, held.incarnation), held, perform)

    await advance(quick, await lease("M"))
    held = await lease("M[0]")
    assert isinstance(await advance(late, replace(held, token="stale")), Refusal)
    assert not isinstance(await advance(quick, held), Refusal)
    await advance(late, await lease("M[0]/T"))
    output = (await stage.store.outputs(RUN, ["M[0]/T"]))["M[0]/T"]["data"]
    output = payload.decode(output)
    assert output["of"] == output["got"]


def _choreographer(stage: Stage, seed: int) -> Choreographer:
    return Choreographer(stage.store, rng=random.Random(seed))


@staged
async def test_a_run_that_is_over_is_forgotten(stage: Stage) -> None:
    worker = stage.worker()
    await stage.submit(flow(M=spread(flow(P=passing()))), [1, 2])
    assert (await stage.end()).status == "succeeded"
    fans = worker._choreographer._fans
    await stage.until(_gone(fans))


def _gone(fans: Any) -> Any:
    async def gone() -> bool:
        return len(fans._fans) == len(fans._children) == 0

    return gone
