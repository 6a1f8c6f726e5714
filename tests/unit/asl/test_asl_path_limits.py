"""A hostile JSONPath is refused, or ends with an error soon."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import pytest
from campaigns import LANGUAGE, settled

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.evaluation_budget import Budget
from dcf.asl.jsonpath.comparison import COMPARISONS
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.scope import Scope

pytestmark = settled(*LANGUAGE)


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


@cache
def _values(size: int) -> dict[str, Any]:
    """Two of each kind that are equal and no one object, of about ``size`` characters."""
    return {
        f"{name}{number}": value
        for number in (1, 2)
        for name, value in {
            "text": "".join(["a"] * size),
            "array": list(range(size // 8)),
            "texts": ["".join(["a"] * size)],
            "object": {f"{key:07}": key for key in range(size // 8)},
            "name": {"".join(["a"] * size): 1},
        }.items()
    }


@pytest.mark.parametrize(
    ("left", "sign", "right"),
    [
        *[
            (f"{name}1", sign, f"{name}2")
            for name in ("text", "array", "texts", "object", "name")
            for sign in ("==", "!=", "===", "!==")
        ],
        *[("text1", sign, "text2") for sign in ("<", ">=", "contains")],
        *[("text1", sign, "texts1") for sign in ("in", "nin")],
        *[("texts1", sign, "texts2") for sign in ("subsetof", "anyof", "noneof")],
        ("texts1", "contains", "text2"),
    ],
)
def test_a_comparison_takes_as_many_steps_as_what_it_compares_is_large(
    left: str, sign: str, right: str
) -> None:
    def steps(size: int) -> int:
        budget, values = Budget(), _values(size)
        COMPARISONS[sign](values[left], values[right], budget)
        return budget.steps

    assert steps(800_000) >= 800
    assert steps(800_000) > 7 * steps(100_000)
    assert steps(8) <= 4


def test_what_is_compared_again_and_again_ends_by_its_steps() -> None:
    text = "a" * 1_000_000
    data = {"one": text, "other": text[:-1] + "a", "items": [0] * 50_000}
    expression = compile_path("$.items[?($.one == $.other)]", "value.$")
    with pytest.raises(EvaluationError, match="timeout"):
        expression(Scope(data, {}, {}))
