"""A hostile JSONPath is refused, or ends with an error soon."""

from __future__ import annotations

import time
from typing import Any

import pytest

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.scope import Scope


def nested(depth: int) -> Any:
    value: Any = {"a": "a" * 60 + "!"}
    for _ in range(depth):
        value = {"a": value, "b": [value]}
    return value


@pytest.mark.parametrize(
    "path",
    [
        "$[?(@.a =~ /^(a|aa)+$/)]",
        "$..[?(@.a =~ /(a|aa)+b/)]",
        "$..*..*..*..*",
        "$..[?(@..a == $..b)]",
        "$[" + ",".join(["0"] * 5000) + "]" + ("[" + ",".join(["0"] * 5000) + "]"),
    ],
)
def test_a_costly_path_ends_within_its_time(path: str) -> None:
    data: Any = [[1]] if path.startswith("$[0") else [nested(10)]
    expression = compile_path(path, "value.$")
    started = time.thread_time()

    try:
        expression(Scope(data, {}, {}))
    except EvaluationError as error:
        assert error.error == "States.Runtime"

    assert time.thread_time() - started < 4


@pytest.mark.parametrize(
    "path",
    [
        "$[?(" + "(" * 1000 + "@.a" + ")" * 1000 + ")]",
        "$[?(" + "!" * 1000 + "@.a)]",
        "$" + "[?(@" * 1000 + ")]" * 1000,
        "$" + ".a" * 1000,
        "$[?(@.a =~ /(/)]",
        "$[?(@.a =~ /a/q)]",
    ],
)
def test_a_path_that_nests_too_deep_or_is_broken_is_refused(path: str) -> None:
    with pytest.raises(ExpressionError):
        compile_path(path, "value.$")
