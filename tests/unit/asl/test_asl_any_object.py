"""Any content of an object goes through a distributed Map, or is an error of the language."""

from __future__ import annotations

import json
from random import Random

from asl_builders import echo, machine_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import (
    MemoryObjects,
    TaskFailed,
    VirtualClock,
    interpret,
    parse,
)

PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


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
