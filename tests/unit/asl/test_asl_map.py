"""Map in full: limits from paths, tolerated failures, distributed iterations."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import echo, enter, machine_of, react, run, visit_of

from dcf.asl import (
    ChildFailed,
    Failure,
    FanOut,
    Joined,
    MemoryObjects,
    TaskCall,
    TaskFailed,
    item_input,
    parse,
    validate,
)
from dcf.conformance.engine_run import open_engine
from dcf.conformance.executor import Job

PASS = {"Type": "Pass", "End": True}


def map_state(distributed: bool = True, inner: Any = None, **fields: Any) -> dict[str, Any]:
    processor = machine_of(P=inner or PASS)
    if distributed:
        processor["ProcessorConfig"] = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    return {"Type": "Map", "ItemProcessor": processor, **fields}


def test_max_concurrency_may_come_from_the_input() -> None:
    state = map_state(ItemsPath="$.xs", MaxConcurrencyPath="$.n")

    assert enter(state, {"xs": [1], "n": 3}).max_concurrency == 3


def test_a_number_from_a_path_may_be_written_as_a_string() -> None:
    state = map_state(ItemsPath="$.xs", MaxConcurrencyPath="$.n")

    assert enter(state, {"xs": [1], "n": "3"}).max_concurrency == 3


@pytest.mark.parametrize(
    ("value", "shown"), [({}, "{}"), ("many", "many"), (True, "true"), (1.5, "1.5"), (None, "null")]
)
def test_a_path_to_no_integer_is_a_runtime_error(value: Any, shown: str) -> None:
    effect = enter(map_state(ItemsPath="$.xs", MaxConcurrencyPath="$.n"), {"xs": [], "n": value})

    assert effect == Failure(
        "States.Runtime",
        "An error occurred while executing the state 'S'. The MaxConcurrencyPath field refers to "
        f'value "{shown}" which is not a valid integer: $.n',
    )


def test_a_negative_tolerance_is_a_runtime_error() -> None:
    effect = enter(
        map_state(ItemsPath="$.xs", ToleratedFailureCountPath="$.n"), {"xs": [], "n": -1}
    )

    assert effect.cause.endswith(". ToleratedFailureCount cannot be negative.")


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({}, 0),
        ({"ToleratedFailureCount": 3}, 3),
        ({"ToleratedFailurePercentage": 25}, 2),
        ({"ToleratedFailurePercentage": 100}, 10),
        # Whichever threshold is exceeded first fails the Map.
        ({"ToleratedFailureCount": 3, "ToleratedFailurePercentage": 25}, 2),
        ({"ToleratedFailureCount": 1, "ToleratedFailurePercentage": 25}, 1),
    ],
)
def test_a_distributed_map_tolerates_so_many_failures(fields: dict[str, int], limit: int) -> None:
    assert enter(map_state(**fields), list(range(10))).fail_limit == limit


def test_what_must_be_an_array_is_named_by_its_path() -> None:
    effect = enter(map_state(ItemsPath="$.xs"), {"xs": 1})

    assert effect.cause.endswith('. Reference path "$.xs" must point to array.')


OBJECT = {"a": 1, "b": {"x": 2}}
MEMBER = {"at.$": "$$.Map.Item.Index", "key.$": "$$.Map.Item.Key", "value.$": "$$.Map.Item.Value"}
SELECTED = [{"at": 0, "key": "a", "value": 1}, {"at": 1, "key": "b", "value": {"x": 2}}]
PAIRS = [{"Key": "a", "Value": 1}, {"Key": "b", "Value": {"x": 2}}]
INSIDE = {"Type": "Pass", "Parameters": MEMBER, "End": True}


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({}, PAIRS),
        ({"ItemSelector": MEMBER}, SELECTED),
        ({"inner": INSIDE}, SELECTED),
        ({"ItemBatcher": {"MaxItemsPerBatch": 5}}, [{"Items": PAIRS}]),
        (
            {"ItemBatcher": {"MaxItemsPerBatch": 5}, "ItemSelector": MEMBER},
            [{"Items": SELECTED}],
        ),
    ],
)
def test_a_distributed_map_goes_through_the_members_of_an_object(fields: Any, output: Any) -> None:
    """As ``Map.Item.Key`` is documented; three emulators agree on the input of an iteration."""
    for value, more in ((OBJECT, {}), ({"xs": OBJECT}, {"ItemsPath": "$.xs"})):
        definition = machine_of(M=map_state(**fields, **more, End=True))

        assert run(definition, value).output == output


def test_the_engine_does_so_too() -> None:
    twin = open_engine("twin")
    definition = machine_of(M=map_state(inner=INSIDE, ItemSelector=MEMBER, End=True))
    job = Job(definition, OBJECT, lambda call: echo(call), started_at=0.0)

    assert twin.execute(job).output == SELECTED
    twin.close()


@pytest.mark.parametrize("items", [OBJECT, "{% $states.input %}", {"a": 1, "b": {"x": "{% 2 %}"}}])
def test_items_in_jsonata_may_be_an_object(items: Any) -> None:
    inner = {"Type": "Pass", "Output": "{% $states.context.Map.Item.Key %}", "End": True}
    distributed = map_state(inner=inner, Items=items, End=True)
    definition = {"QueryLanguage": "JSONata", **machine_of(M=distributed)}

    assert validate(definition) == []
    assert run(definition, OBJECT).output == ["a", "b"]


@pytest.mark.parametrize("inner", [PASS, INSIDE])
def test_an_inline_map_refuses_an_object(inner: Any) -> None:
    """As recorded on AWS."""
    effect = enter(map_state(distributed=False, inner=inner), OBJECT)

    assert effect.error == "States.Runtime"


FLAKY = {"Type": "Task", "Resource": "work", "End": True}


def fails_on(*bad: int) -> Any:
    return lambda call: TaskFailed("E", "c") if call.arguments in bad else echo(call)


def test_tolerated_failures_do_not_fail_the_map() -> None:
    definition = machine_of(
        M=map_state(inner=FLAKY, ToleratedFailureCount=1, MaxConcurrency=1, End=True)
    )

    execution = run(definition, [1, 2, 3], call_task=fails_on(2))

    assert execution.status == "SUCCEEDED"
    first, failed, last = execution.output
    assert (first, last) == (1, 3)
    assert (failed["Status"], failed["Error"], failed["Cause"]) == ("FAILED", "E", "c")
    assert failed["Input"] == "2"


def test_more_failures_than_tolerated_fail_the_map() -> None:
    definition = machine_of(M=map_state(inner=FLAKY, ToleratedFailureCount=1, End=True))

    execution = run(definition, [1, 2, 3], call_task=fails_on(1, 3))

    assert (execution.error, execution.cause) == (
        "States.ExceedToleratedFailureThreshold",
        "The specified tolerated failure threshold was exceeded",
    )


def test_an_inline_map_fails_with_the_error_of_its_iteration() -> None:
    state = map_state(distributed=False)

    assert react(state, [1], ChildFailed("E", "c")) == Failure("E", "c")


def test_a_threshold_exceeded_is_caught_by_its_name() -> None:
    catch = {"ErrorEquals": ["States.ExceedToleratedFailureThreshold"], "Next": "Next"}

    assert react(map_state(Catch=[catch]), [1], ChildFailed("E", "c")).next == "Next"


def test_no_new_iterations_start_after_the_threshold() -> None:
    called: list[Any] = []

    def fails(call: TaskCall) -> TaskFailed:
        called.append(call.arguments)
        return TaskFailed("E", "c")

    definition = machine_of(
        M=map_state(inner=FLAKY, ToleratedFailureCount=1, MaxConcurrency=1, End=True)
    )

    run(definition, [1, 2, 3, 4], call_task=fails)

    assert called == [1, 2]


def test_an_iteration_of_a_distributed_map_is_an_execution_of_its_own() -> None:
    inner = {
        "Type": "Pass",
        "Parameters": {
            "input.$": "$$.Execution.Input",
            "id.$": "$$.Execution.Id",
            "machine.$": "$$.StateMachine.Id",
        },
        "End": True,
    }
    definition = machine_of(
        M=map_state(inner=inner, ItemSelector={"v.$": "$$.Map.Item.Value"}, Label="L", End=True)
    )
    context = {"StateMachine": {"Id": "arn:aws:states:r:1:stateMachine:M", "Name": "M"}}

    first, second = run(definition, [7, 8], context=context).output

    assert (first["input"], second["input"]) == ({"v": 7}, {"v": 8})
    assert first["machine"] == "arn:aws:states:r:1:stateMachine:M/L"
    assert first["id"].startswith("arn:aws:states:r:1:execution:M/L:")
    assert first["id"] != second["id"]


def test_an_iteration_of_a_distributed_map_sees_no_outer_variables() -> None:
    inner = {"Type": "Pass", "Parameters": {"x.$": "$x"}, "End": True}
    distributed = map_state(inner=inner, ToleratedFailurePercentage=100)
    state = parse(machine_of(M={**distributed, "End": True})).states["M"]
    definition = machine_of(
        A={"Type": "Pass", "Assign": {"x": 1}, "Next": "M"},
        M={**map_state(inner={"Type": "Pass", "Assign": {"y": 1}, "End": True}), "End": True},
    )

    assert state.processor is not None
    assert run(definition, [1]).output == [1]


def test_the_input_of_an_iteration_needs_no_generator() -> None:
    state = parse(machine_of(M=map_state(ItemSelector={"id.$": "States.UUID()"}, End=True))).states[
        "M"
    ]
    visit = visit_of([1, 2])

    inputs = [item_input(state, visit, index, item) for index, item in enumerate([1, 2])]

    assert inputs == [item_input(state, visit, index, item) for index, item in enumerate([1, 2])]


SOURCE = {"from.$": "$$.Map.Item.Source"}


def test_the_source_of_items_in_the_input_of_the_state() -> None:
    for distributed in (False, True):
        definition = machine_of(M=map_state(distributed, ItemSelector=SOURCE, End=True))

        assert run(definition, ["a", "b"]).output == [{"from": "STATE_DATA"}] * 2


@pytest.mark.parametrize(
    ("action", "config", "arguments", "source"),
    [
        ("getObject", {"InputType": "JSON"}, {"Bucket": "b", "Key": "k.json"}, "S3://b/k.json"),
        ("listObjectsV2", None, {"Bucket": "b", "Prefix": "k"}, "S3://b"),
    ],
)
def test_the_source_of_items_that_were_read(
    action: str, config: Any, arguments: Any, source: str
) -> None:
    reader = {"Resource": f"arn:aws:states:::s3:{action}", "Parameters": arguments}
    if config is not None:
        reader["ReaderConfig"] = config
    definition = machine_of(M=map_state(ItemReader=reader, ItemSelector=SOURCE, End=True))
    objects = MemoryObjects({"b/k.json": b"[1]"})

    assert run(definition, {}, objects=objects).output == [{"from": source}]


@pytest.mark.parametrize(
    "tolerance",
    [
        {"ToleratedFailureCount": "{% $count($states.input) - 3 %}"},
        {"ToleratedFailurePercentage": "{% 25 %}"},
        {"ToleratedFailureCount": 1, "ToleratedFailurePercentage": 100},
    ],
)
def test_an_inline_map_tolerates_failures(tolerance: dict[str, Any]) -> None:
    """The specification's Map State Failure Tolerance knows no modes; AWS's example
    scatter-gather-with-partial-results.asl.json has an inline one, and looks for ``Error`` in its
    results."""
    inner = {"Type": "Task", "Resource": "work", "End": True}
    state = map_state(distributed=False, inner=inner, End=True, **tolerance)
    definition = {"QueryLanguage": "JSONata", **machine_of(M=state)}
    failed = {"Error": "E", "Cause": "c"}
    twin = open_engine("twin")

    assert validate(definition) == []
    for bad, output in (([2], [1, failed, 3, 4]), ([2, 3], None)):
        ran = run(definition, [1, 2, 3, 4], call_task=fails_on(*bad))
        job = Job(definition, [1, 2, 3, 4], fails_on(*bad), started_at=0.0)
        there = twin.execute(job)
        assert ran.output == there.output == output
        exceeded = None if output else "States.ExceedToleratedFailureThreshold"
        assert ran.error == there.error == exceeded
    twin.close()


def test_a_percentage_may_have_a_fraction() -> None:
    state = map_state(ItemsPath="$.xs", ToleratedFailurePercentagePath="$.p")

    assert enter(state, {"xs": [0] * 1000, "p": 0.5}).fail_limit == 5


def test_a_map_without_items_joins_at_once() -> None:
    assert run(machine_of(M=map_state(End=True)), []).output == []
    assert react(map_state(), [], Joined([])).output == []


def test_a_map_fans_out_over_its_effective_input() -> None:
    state = map_state(InputPath="$.a", ItemsPath="$.xs")

    assert enter(state, {"a": {"xs": [1]}}) == FanOut(1, [1], {"xs": [1]}, 0)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (-1, "ToleratedFailurePercentage must be between 0 and 100."),
        (100.1, "ToleratedFailurePercentage must be between 0 and 100."),
        (
            "many",
            'The ToleratedFailurePercentagePath field refers to value "many" which is not a valid '
            "float: $.n",
        ),
    ],
)
def test_a_percentage_is_a_number_up_to_100(value: Any, told: str) -> None:
    state = map_state(ItemsPath="$.xs", ToleratedFailurePercentagePath="$.n")

    assert enter(state, {"xs": [], "n": value}).cause.endswith(f". {told}")


@pytest.mark.parametrize(
    "field", ["MaxConcurrencyPath", "ToleratedFailureCountPath", "ToleratedFailurePercentagePath"]
)
def test_a_path_to_no_number_tells_where_it_ends_as_that_of_a_timeout_does(field: str) -> None:
    effect = enter(map_state(ItemsPath="$.xs", **{field: "$.a.n"}), {"xs": []})

    assert effect.cause.endswith(". Invalid path '$.a.n' : Missing property in path $['a']")
