"""Variables in JSONPath: ``$name`` wherever a path may stand."""

from __future__ import annotations

from typing import Any

import pytest

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.intrinsics.catalogue import compile_intrinsic
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.jsonpath.syntax import parse_path
from dcf.asl.reading.findings import Findings
from dcf.asl.scope import Scope
from dcf.asl.template import compile_template

VARIABLES = {
    "order": {"id": 7, "items": [{"price": 1}, {"price": 30}]},
    "list": ["a", "b"],
    "größe": 3,
    "_x": None,
}


def read(text: str) -> Any:
    return compile_path(text, "value.$")(Scope({"order": "data"}, {}, VARIABLES))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$order", VARIABLES["order"]),
        ("$order.id", 7),
        ("$order['id']", 7),
        ("$list[0]", "a"),
        ("$list[-1]", "b"),
        ("$order.items[1].price", 30),
        ("$order.items[*].price", [1, 30]),
        ("$order..price", [1, 30]),
        ("$order.items[?(@.price > 2)].price", [30]),
        ("$größe", 3),
        ("$_x", None),
    ],
)
def test_a_variable_is_read_whole_or_in_part(path: str, value: Any) -> None:
    assert read(path) == value


def test_a_template_and_an_intrinsic_read_variables() -> None:
    findings = Findings()
    build = compile_template({"id.$": "$order.id", "n.$": "$list"}, "", findings)
    scope = Scope({}, {}, VARIABLES)

    assert build(scope) == {"id": 7, "n": ["a", "b"]}
    assert compile_intrinsic("States.Format('{}-{}', $order.id, $list[1])", "n.$")(scope) == "7-b"
    assert findings.problems == []


@pytest.mark.parametrize("path", ["$unknown", "$unknown.a", "$order.missing", "$list[2]"])
def test_what_a_variable_does_not_hold_is_a_runtime_error(path: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read(path)

    assert caught.value.error == "States.Runtime"
    assert path.split(".")[0].split("[")[0] in caught.value.cause


def test_the_syntax_tells_which_variable_is_read() -> None:
    assert parse_path("$order.id").variable == "order"
    assert parse_path("$.order").variable is None
    assert parse_path("$$.Execution").variable is None


@pytest.mark.parametrize("path", ["$1a", "$a-b", "$a b", "$" + "x" * 81])
def test_a_name_that_no_variable_can_have_is_refused(path: str) -> None:
    with pytest.raises(ExpressionError):
        compile_path(path, "value.$")
