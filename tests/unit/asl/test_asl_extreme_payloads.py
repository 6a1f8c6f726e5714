"""Payloads nobody expects, everywhere one may stand: an output, or an error of the language."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of, run
from campaigns import LANGUAGE, settled
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_play import TOO_LATE, is_end

from dcf.asl import (
    AslError,
    Configuration,
    DefinitionError,
    MockedError,
    MockedResult,
    StateTestRefused,
    TaskCall,
    run_state,
    validate,
)
from dcf.asl.trial.mocked_answer import MockedAnswer
from dcf.asl.trial.mocks import Mocks
from dcf.problem import has_errors

pytestmark = settled(*LANGUAGE)


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize("levels", [99, 101, 1000, 50_000])
def test_a_definition_may_nest_as_deep_as_it_likes(levels: int) -> None:
    state = {"Type": "Pass", "Parameters": deep(levels), "End": True}

    assert has_errors(validate(machine_of(S=state))) == (levels > 90)


EXTREMES: list[Any] = [
    *(10**400, -(10**400), 1e308, -1e308, 5e-324, -0.0, 2**63, True, None, "", "\ud800", "\x00"),
    *("🂡" * 50, "9" * 400, {"k" * 100_000: 1}, {"": {"\x00": ["\udfff"]}}, {"a.$": "$.x"}),
    *(deep(100), deep(2000), deep(10_000), [[]] * 1000, "2030-01-01T00:00:00Z", "{% 1 %}"),
]
EXPRESSIONS: list[dict[str, Any]] = [
    *({"Type": "Wait", field: "$.x"} for field in ("SecondsPath", "TimestampPath")),
    {"Type": "Wait", "QueryLanguage": "JSONata", "Seconds": "{% $states.input.x %}"},
    {"Type": "Wait", "QueryLanguage": "JSONata", "Timestamp": "{% $states.input.x %}"},
    {"Type": "Task", "Resource": "r", "TimeoutSecondsPath": "$.x", "HeartbeatSecondsPath": "$.x"},
    {"Type": "Task", "Resource": "r", "Parameters": {"p.$": "$.x", "q.$": "$..a"}},
    {"Type": "Pass", "InputPath": "$.x", "ResultPath": "$.x.y.z"},
    {"Type": "Pass", "Parameters": {"p.$": "$..[?(@.a > 1 || @.a =~ /a+/ || @ == 'x')]"}},
    {"Type": "Pass", "InputPath": "$.missing"},
    {"Type": "Pass", "Assign": {"v.$": "$.x"}, "OutputPath": "$.x"},
    *(
        {"Type": "Pass", "Parameters": {"p.$": f"States.{call}"}}
        for call in (
            *("MathAdd($.x, $.x)", "ArrayRange(0, $.x, 1)", "ArrayPartition($.l, $.x)"),
            *("ArrayGetItem($.l, $.x)", "MathRandom(0, $.x)", "MathRandom(0, 5, $.x)"),
            *("ArrayUnique($.l)", "ArrayContains($.l, $.x)", "Base64Encode($.x)"),
            *("Base64Decode($.x)", "Hash($.x, 'SHA-256')", "JsonToString($.x)"),
            *("StringToJson($.x)", "StringSplit($.x, $.x)", "Format('{}', $.x)", "Format($.x)"),
            *("JsonMerge($.x, $.x, false)", "ArrayLength($.x)"),
        )
    ),
    *(
        {"Type": "Pass", "QueryLanguage": "JSONata", "Output": f"{{% {code} %}}"}
        for code in (
            *("$states.input.x", "$states.input.x + 1", "$string($states.input.x)", "-$v"),
            *("$states.input.x = $states.input.x", "$states.input.**", "$sum($states.input.l)"),
            *("$sort($states.input.l)", "$distinct($states.input.l)", "$number($states.input.x)"),
            *("$hash($string($states.input.x), 'MD5')", "$base64encode($states.input.x)"),
            *("$formatNumber($states.input.x, '#')", "$fromMillis($states.input.x)"),
            *("$range(0, $states.input.x, 1)", "[0..$states.input.x]", "$parse($states.input.x)"),
            *("$pad('a', $states.input.x)", "$random($states.input.x)", "$encodeUrl($v)"),
            *("$states.input ~> |**|{'k': 1}|", "$formatBase($states.input.x, 2)"),
        )
    ),
]


@pytest.mark.parametrize("state", EXPRESSIONS, ids=str)
def test_an_extreme_payload_gives_an_output_or_an_error_name(state: dict[str, Any]) -> None:
    before = {"Type": "Pass", "Assign": {"v.$": "$.x"}, "Next": "S"}
    definition = machine_of(Before=before, S={**state, "End": True})
    for value in EXTREMES:
        data = {"x": value, "l": [value, value, 1]}
        for limited in (False, True):
            assert is_end(run(definition, data, aws_limits=limited))


@pytest.mark.parametrize("field", ["MaxConcurrency", "ToleratedFailureCount"])
def test_an_extreme_payload_goes_through_a_map(field: str) -> None:
    inner = {"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% $string($states.input) %}"}
    processor = {**machine_of(T={**inner, "End": True})}
    processor["ProcessorConfig"] = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
    state = {
        "Type": "Map",
        "ItemsPath": "$.l",
        "ItemSelector": {"i.$": "$$.Map.Item.Value", "x.$": "$.x"},
        "ItemProcessor": processor,
        f"{field}Path": "$.n",
        "ItemBatcher": {"MaxItemsPerBatchPath": "$.m", "BatchInput": {"x.$": "$.x"}},
        "ResultWriter": {
            "Resource": "arn:aws:states:::s3:putObject",
            "Parameters": {"Bucket": "b", "Prefix.$": "$.x"},
        },
        "End": True,
    }
    for value in EXTREMES:
        data = {"x": value, "l": [value, value], "n": 1, "m": 1}
        assert is_end(run(machine_of(M=state), data))
        assert is_end(run(machine_of(M=state), {**data, "n": value, "m": value}))


def test_an_endless_machine_of_waits_ends_with_the_calendar() -> None:
    rule = {"Variable": "$.x", "IsPresent": True, "Next": "W"}
    execution = run(
        machine_of(
            W={"Type": "Wait", "Seconds": 99_999_999, "Next": "C"},
            C={"Type": "Choice", "Choices": [rule], "Default": "E"},
            E={"Type": "Succeed"},
        ),
        {"x": 1},
    )

    assert (execution.status, execution.cause) == ("TIMED_OUT", TOO_LATE)


JSONISH = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, 1e308, -0.0, "\ud800", "\x00", "States.ALL"])
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
MOCKS = (
    st.none()
    | JSONISH.map(MockedResult)
    | st.builds(MockedError, st.text(max_size=5), st.text(max_size=5))
)
FLOWS = st.sampled_from(
    [
        {"Type": "Task", "Resource": "r"},
        {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "OutputPath": "$.Payload"},
        {"Type": "Pass", "ResultPath": "$.a.b"},
        {"Type": "Wait", "SecondsPath": "$.a"},
        {"Type": "Map", "Iterator": machine_of(T={"Type": "Succeed"}), "ItemsPath": "$.a"},
        {"Type": "Parallel", "Branches": [machine_of(T={"Type": "Succeed"})]},
        {"Type": "Task", "Resource": "r", "QueryLanguage": "JSONata", "Output": "{% $states %}"},
        {"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": True, "Next": "X"}]},
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(FLOWS, JSONISH, MOCKS, st.none() | st.integers(0, 3), st.sampled_from(["INFO", "TRACE"]))
def test_one_state_alone_answers_or_refuses(
    state: dict[str, Any], data: Any, mock: Any, used: int | None, level: Any
) -> None:
    state = state if state["Type"] == "Choice" else {**state, "End": True}
    configuration = Configuration(retrier_retry_count=used)

    try:
        tested = run_state(
            state, data, mock=mock, configuration=configuration, level=level, variables={"v": data}
        )
    except (DefinitionError, StateTestRefused):
        return

    assert tested.status in ("SUCCEEDED", "FAILED", "RETRIABLE", "CAUGHT_ERROR")


@settings(max_examples=100, deadline=None)
@given(JSONISH, JSONISH, JSONISH)
def test_mocks_answer_or_say_that_they_cannot(given: Any, wanted: Any, result: Any) -> None:
    mocks = Mocks({"S": (MockedAnswer("return", result, expect=(wanted,)),)}, {})

    try:
        mocks(TaskCall(("S",), "r", given, 0))
        mocks(TaskCall(("S",), "r", given, 1))
    except AslError as trouble:
        assert str(trouble)
