"""What a failed intrinsic call says: the whole call, then why."""

from __future__ import annotations

from typing import Any

import pytest

from dcf.asl.errors import EvaluationError
from dcf.asl.intrinsics.catalogue import compile_intrinsic
from dcf.asl.scope import Scope


def failure(call: str, data: Any) -> EvaluationError:
    with pytest.raises(EvaluationError) as caught:
        compile_intrinsic(call, "value.$")(Scope(data, {}, {}))
    return caught.value


@pytest.mark.parametrize(
    "call",
    [
        "States.ArrayGetItem($.list, 7)",
        "States.Format('{}', States.ArrayLength($.text))",
        "States.StringToJson($.text)",
        "States.Base64Decode($.text)",
        "States.JsonMerge($.list, $.list, false)",
        "States.MathRandom(5, 5)",
        "States.Hash($.text, 'md5')",
        "States.ArrayRange(1, 5000, 1)",
        "States.ArrayPartition($.list, 0)",
    ],
)
def test_a_call_that_cannot_work_is_an_intrinsic_failure(call: str) -> None:
    error = failure(call, {"list": [1], "text": "{x"})

    assert error.error == "States.IntrinsicFailure"
    assert error.cause.startswith(f"The function '{call}' had the following error: ")


def test_an_argument_that_is_not_there_is_a_runtime_error_with_the_input() -> None:
    call = "States.Format('{}', $.missing)"

    error = failure(call, {"a": 1})

    assert error.error == "States.Runtime"
    assert error.cause == (
        f"The function '{call}' had the following error: The JsonPath argument for the field"
        " '$.missing' could not be found in the input '{\"a\":1}'"
    )


def test_a_half_is_rounded_up() -> None:
    read = compile_intrinsic("States.Array(States.MathAdd(2.5, 0), States.MathAdd(-2.5, 0))", "v.$")

    assert read(Scope({}, {}, {})) == [3, -2]


@pytest.mark.parametrize(
    ("call", "data", "told"),
    [
        # The path as it is within the context object, and yet the input of the state.
        (
            "States.Format('{}', $$.Nope.Deep)",
            {"other": 1},
            "The JsonPath argument for the field '$.Nope.Deep' could not be found in the input "
            "'{\"other\":1}'",
        ),
        # What AWS's library for paths says, instead of the sentence.
        (
            "States.Format('{}', $.other[0])",
            {"other": 1},
            "Filter: [0] can only be applied to arrays. Current context is: 1",
        ),
        (
            "States.Format('{}', $.items[5])",
            {"items": [1, 2]},
            "The JsonPath argument for the field '$.items[5]' could not be found in the input "
            "'{\"items\":[1,2]}'",
        ),
        (
            "States.Format('{}', $.items[5].x)",
            {"items": [1]},
            "The JsonPath argument for the field '$.items[5].x' could not be found in the input "
            "'{\"items\":[1]}'",
        ),
    ],
)
def test_an_argument_that_finds_nothing_is_told_as_aws_does(
    call: str, data: object, told: str
) -> None:
    problem = failure(call, data)

    assert problem.error == "States.Runtime"
    assert problem.cause == f"The function '{call}' had the following error: {told}"
