"""What a JSONata state hardly means as it is written: warnings, and the hints of errors."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import parse, validate
from dcf.problem import Problem

LAMBDA = "arn:aws:states:::lambda:invoke"


def jsonata(**states: dict[str, Any]) -> dict[str, Any]:
    return {"QueryLanguage": "JSONata", **machine_of(**states)}


def found(output: Any, **fields: Any) -> list[Problem]:
    state = {"Type": "Pass", "End": True, **fields, "Output": output}
    return validate(jsonata(A=state))


def warning(output: Any, **fields: Any) -> Problem:
    [problem] = found(output, **fields)
    assert problem.severity == "warning"
    return problem


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("$uppercas('a')", "did you mean `$uppercase`?"),
        ("$Uppercase('a')", "did you mean `$uppercase`?"),
        ("$map([1], function($i) { $strng($i) })", "did you mean `$string`?"),
        ("$states.input.($lenght(name))", "did you mean `$length`?"),
        ("$eval('1')", "Step Functions has no `$eval`; `$parse` reads JSON text"),
    ],
)
def test_a_function_that_is_not_there(expression: str, meant: str) -> None:
    problem = warning({"a": f"{{% {expression} %}}"})

    assert (problem.code, problem.path) == ("ASL_UNKNOWN_FUNCTION", "/States/A/Output/a")
    assert problem.hint == meant


def test_a_function_like_no_other_gets_a_hint_too() -> None:
    assert "define it" in warning("{% $frobnicate(1) %}").hint


@pytest.mark.parametrize(
    "expression",
    [
        "$uppercase('a')",
        "$parse('1') + $random() + $count($partition([1], 1))",
        "($twice := function($n) { $n * 2 }; $twice(2))",
        "$map([1], function($i) { $i })",
        "function($f) { $f(1) }($abs)",
        "$states.input ~> $keys",
    ],
)
def test_functions_of_the_language_and_of_the_expression(expression: str) -> None:
    assert found(f"{{% {expression} %}}") == []


@pytest.mark.parametrize(
    "text",
    [
        "order {% $states.input.id %}",
        "order {% $states.input.id %} of {% $states.input.name %}",
        " {% $states.input.id %}",
        "$states.input.id",
    ],
)
def test_a_text_that_is_not_evaluated(text: str) -> None:
    problem = warning({"deep": [text]})

    assert (problem.code, problem.path) == ("ASL_NOT_EVALUATED", "/States/A/Output/deep/0")


def test_a_jsonpath_field_in_a_jsonata_state() -> None:
    problem = warning({"id.$": "$.id"})

    assert (problem.code, problem.path) == ("ASL_NOT_EVALUATED", "/States/A/Output/id.$")
    assert "name it `id`" in problem.hint


@pytest.mark.parametrize("text", ["$5.00", "$HOME", "states.input", "{}", "%} of it", "$", "a.$"])
def test_other_texts_are_texts(text: str) -> None:
    assert found({"a": text}, Comment="see {% $states.input %}") == []


def test_an_expression_that_nothing_opens() -> None:
    """The developer guide: it must start with ``{%`` and end with ``%}``."""
    [problem] = found({"a": "10 %}"})

    assert (problem.code, problem.path) == ("ASL_UNCLOSED_JSONATA", "/States/A/Output/a")
    assert problem.hint == "write `{%` before it"


def test_an_unknown_field_of_states() -> None:
    for expression in ("$states.contxt", "$states.contxt.Execution.Id", "[1, $states.contxt]"):
        problem = warning(f"{{% {expression} %}}")

        assert problem.code == "ASL_NOT_IN_STATES"
        assert problem.message == "`$states` has no `contxt`"
        assert problem.hint == "did you mean `context`?"


@pytest.mark.parametrize("state_type", ["Pass", "Wait", "Succeed"])
def test_a_state_without_a_result(state_type: str) -> None:
    fields: dict[str, Any] = {"Seconds": 1} if state_type == "Wait" else {}
    state = {"Type": state_type, "Output": "{% $states.result %}", **fields}
    if state_type != "Succeed":
        state["End"] = True

    [problem] = validate(jsonata(A=state))

    assert (problem.code, problem.severity) == ("ASL_UNSUPPORTED_JSONATA", "error")
    assert problem.message.startswith(f"a {state_type} has no result")


def test_where_a_task_has_its_result() -> None:
    reading = "{% $states.result %}"
    task = {"Type": "Task", "Resource": LAMBDA, "Next": "Z"}
    catcher = {"ErrorEquals": ["States.ALL"], "Next": "Z", "Output": reading}
    fields = {"Output": reading, "Assign": {"x": reading}, "Arguments": reading, "Catch": [catcher]}

    problems = validate(jsonata(A={**task, **fields}, Z={"Type": "Succeed"}))

    assert [(p.code, p.path) for p in problems] == [
        ("ASL_UNSUPPORTED_JSONATA", "/States/A/Arguments"),
        ("ASL_UNSUPPORTED_JSONATA", "/States/A/Catch/0/Output"),
    ]


def test_what_is_warned_of_can_be_run() -> None:
    assert parse(jsonata(A={"Type": "Pass", "End": True, "Output": "{% $eval('1') %}"}))


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("input.x", "write `$states.input`"),
        ("result.x", "write `$states.result`"),
        ("context.Execution", "write `$states.context`"),
        ("states.input.x", "write `$states`, with the `$`"),
        ("total", "write `$states.input.total`, or `$total` for a variable"),
    ],
)
def test_the_hint_for_a_name_without_a_root(expression: str, hint: str) -> None:
    [problem] = found(f"{{% {expression} %}}")

    assert (problem.code, problem.hint) == ("ASL_UNSUPPORTED_JSONATA", hint)


def test_two_expressions_in_one_text_get_a_hint_to_join_them() -> None:
    [problem] = found("{% $states.input.a %} and {% $states.input.b %}")

    assert problem.code == "ASL_BAD_JSONATA"
    assert problem.hint.startswith("write one expression only")


def test_a_number_in_quotes_is_shown_with_them() -> None:
    [problem] = validate(jsonata(A={"Type": "Wait", "Seconds": "10", "End": True}))

    assert problem.message == '`Seconds` must be an integer, found "10"'
    assert problem.hint.startswith("write an integer, or `{% … %}`")
