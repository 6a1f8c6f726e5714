"""Machines of all states in both query languages, with data that fits or not: none raises."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from asl_builders import echo, machine_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import (
    Answer,
    Execution,
    MemoryObjects,
    TaskCall,
    TaskFailed,
    TaskSucceeded,
    VirtualClock,
    interpret,
    parse,
)

CODE = st.sampled_from(
    ["$states.input", "$states.input.a", "$v", "$v + 1", "$w[0]", "$sum($states.input.a)", "1",
     "$states.context.State.Name", "$map($states.input, function($x){$x.a})",
     "'text'", "[1..3]", "$states.input.a > $v", "{'a': $v}", "null",
     "$uuid()", "$range(0, 3, 1)", "$parse($states.input)", "$states.input[a = 1].b", "-1", "1.5"]
).map(lambda code: f"{{% {code} %}}")  # fmt: skip
REFERENCES = st.sampled_from(["$", "$.a", "$.b.c", "$v", "$w[0]", "$v.a"])
PATHS = st.sampled_from(["$", "$.a", "$.b.c", "$v", "$w[0]", "$v.a", "$$.State.Name", "$.a[0]"])
PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@st.composite
def jsonata_states(draw: st.DrawFn, kind: str, on: dict[str, Any], inner: Any) -> dict[str, Any]:
    """A state in JSONata whose fields give anything at all."""
    state: dict[str, Any] = {"Type": kind, "QueryLanguage": "JSONata", **on}
    value = CODE | st.fixed_dictionaries({"k": CODE, "l": st.lists(CODE, max_size=2)})
    if draw(st.booleans()):
        state["Output"] = draw(value)
    if draw(st.booleans()):
        state["Assign"] = {"v": draw(CODE)}
    if kind in ("Task", "Parallel") and draw(st.booleans()):
        state["Arguments"] = draw(value)
    if kind == "Task":
        state |= {"Resource": "r", "TimeoutSeconds": draw(CODE)}
    if kind == "Wait":
        state |= draw(st.sampled_from([{"Seconds": "{% $v %}"}, {"Timestamp": "{% $v %}"}]))
    if kind == "Choice":
        rule = {"Condition": draw(CODE), "Assign": {"w": draw(CODE)}, "Output": draw(CODE), **on}
        state = {k: v for k, v in state.items() if k != "Next"}
        state |= {"Choices": [rule], "Default": on["Next"]}
    if kind == "Map":
        state |= {"Items": draw(CODE), "ItemSelector": draw(value), "MaxConcurrency": draw(CODE)}
    return state | inner


@st.composite
def jsonpath_states(draw: st.DrawFn, kind: str, on: dict[str, Any], inner: Any) -> dict[str, Any]:
    """A state in JSONPath that reads its data and variables."""
    state: dict[str, Any] = {"Type": kind, **on, "InputPath": draw(PATHS)}
    if draw(st.booleans()):
        state["OutputPath"] = draw(PATHS)
    if draw(st.booleans()):
        state["Assign"] = {"v.$": draw(PATHS)}
    if kind in ("Task", "Parallel"):
        state["ResultSelector"] = {"r.$": draw(PATHS)}
    if kind == "Task":
        state |= {"Resource": "r", "TimeoutSecondsPath": draw(REFERENCES)}
    if kind == "Wait":
        field = draw(st.sampled_from(["SecondsPath", "TimestampPath"]))
        state[field] = draw(REFERENCES)
    if kind == "Choice":
        rule = {"Variable": draw(PATHS), "NumericGreaterThanPath": draw(PATHS), **on}
        state = {k: v for k, v in state.items() if k != "Next"}
        state |= {"Choices": [{**rule, "Assign": {"w.$": draw(PATHS)}}]}
    if kind == "Map":
        state |= {"ItemSelector": {"i.$": "$$.Map.Item.Value", "p.$": draw(PATHS)}}
        state |= {"MaxConcurrencyPath": draw(REFERENCES)}
    return state | inner


@st.composite
def machines(draw: st.DrawFn, depth: int = 1, prefix: str = "S") -> dict[str, Any]:
    """A chain of states, nested in Map and Parallel; the variables v and w are there."""
    states: dict[str, Any] = {}
    count = draw(st.integers(1, 3))
    for number in range(count):
        kinds = ["Pass", "Task", "Wait", "Choice"] + (["Map", "Parallel"] if depth else [])
        kind = draw(st.sampled_from(kinds))
        on: dict[str, Any] = {"Next": f"{prefix}{number + 1}"}
        extra: dict[str, Any] = {}
        if kind == "Map":
            extra["ItemProcessor"] = draw(machines(depth - 1, f"{prefix}{number}n"))
        if kind == "Parallel":
            extra["Branches"] = [draw(machines(depth - 1, f"{prefix}{number}n"))]
        if kind in ("Task", "Map", "Parallel"):
            extra["Catch"] = [{"ErrorEquals": ["States.ALL"], **on}]
            extra["Retry"] = [{"ErrorEquals": ["E"], "MaxAttempts": draw(st.integers(0, 2))}]
        make = draw(st.sampled_from([jsonata_states, jsonpath_states]))
        states[f"{prefix}{number}"] = draw(make(kind, on, extra))
    states[f"{prefix}{count}"] = {"Type": "Succeed"}
    return {"StartAt": f"{prefix}0", "States": states}


def execute(definition: dict[str, Any], data: Any, seed: int) -> Execution:
    first = {"Type": "Pass", "Assign": {"v.$": "$", "w": [1, {"a": 2}]}, "Next": "S0"}
    whole = {"StartAt": "Before", "States": {"Before": first, **definition["States"]}}
    chance = Random(seed)

    def unreliable(call: TaskCall) -> Answer | TaskSucceeded | TaskFailed:
        drawn = chance.random()
        if drawn < 0.2:
            return TaskFailed("E", None)
        return Answer(None) if drawn < 0.3 else echo(call)

    return interpret(
        parse(whole),
        data,
        call_task=unreliable,
        clock=VirtualClock(),
        rng=Random(seed),
        aws_limits=True,
    )


@given(definition=machines(), data=PAYLOADS, seed=st.integers(0, 99))
def test_any_machine_ends_without_raising_or_mutating(
    definition: dict[str, Any], data: Any, seed: int
) -> None:
    before = copy.deepcopy(data)

    execution = execute(definition, data, seed)

    assert execution.status in ("SUCCEEDED", "FAILED", "TIMED_OUT")
    assert execution.status == "SUCCEEDED" or execution.error
    assert data == before
    json.dumps(execution.output, allow_nan=False)


@given(definition=machines(), data=PAYLOADS, seed=st.integers(0, 99))
def test_one_seed_gives_one_history(definition: dict[str, Any], data: Any, seed: int) -> None:
    assert execute(definition, data, seed) == execute(definition, data, seed)


DISTRIBUTED = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}


@given(
    content=st.binary(max_size=60) | PAYLOADS.map(lambda value: json.dumps(value).encode()),
    kind=st.sampled_from(["CSV", "JSON", "JSONL", "MANIFEST"]),
    tolerated=st.integers(0, 100),
    batch=st.integers(0, 3),
    transformation=st.sampled_from(["NONE", "COMPACT", "FLATTEN"]),
    seed=st.integers(0, 99),
)
def test_any_object_goes_through_a_distributed_map(
    content: bytes, kind: str, tolerated: int, batch: int, transformation: str, seed: int
) -> None:
    config = {"InputType": kind}
    if kind == "CSV":
        config["CSVHeaderLocation"] = "FIRST_ROW"
    state = {
        "Type": "Map",
        "ItemReader": {
            "Resource": "arn:aws:states:::s3:getObject",
            "ReaderConfig": config,
            "Parameters": {"Bucket": "b", "Key": "k"},
        },
        "ItemBatcher": {"MaxItemsPerBatch": batch},
        "ItemProcessor": {
            **machine_of(T={"Type": "Task", "Resource": "r", "End": True}),
            "ProcessorConfig": DISTRIBUTED,
        },
        "ToleratedFailurePercentage": tolerated,
        "ResultWriter": {
            "Resource": "arn:aws:states:::s3:putObject",
            "Parameters": {"Bucket": "out"},
            "WriterConfig": {"Transformation": transformation, "OutputType": "JSON"},
        },
        "End": True,
    }
    store, chance = MemoryObjects({"b/k": content}), Random(seed)

    execution = interpret(
        parse(machine_of(M=state)),
        {},
        call_task=lambda call: TaskFailed("E", "") if chance.random() < 0.3 else echo(call),
        clock=VirtualClock(),
        rng=Random(seed),
        objects=store,
    )

    if execution.status == "SUCCEEDED":
        assert f"out/{execution.output['ResultWriterDetails']['Key']}" in store.objects
    else:
        assert execution.error in (
            "States.ItemReaderFailed",
            "States.ExceedToleratedFailureThreshold",
        )
