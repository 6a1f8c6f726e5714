"""Codes about what a definition does with data: paths, templates, JSONata, variables, rules."""

from __future__ import annotations

from typing import Any

from dcf.asl.checks.problem_code import ProblemCode, alone, machine

_DONE: dict[str, Any] = {"Type": "Succeed"}
_LAMBDA = "arn:aws:states:::lambda:invoke"
_JSONATA = {"QueryLanguage": "JSONata"}


def _choice(rule: dict[str, Any]) -> dict[str, Any]:
    return machine(A={"Type": "Choice", "Choices": [rule], "Default": "B"}, B=_DONE)


DATA: dict[str, ProblemCode] = {
    "ASL_WRONG_QUERY_LANGUAGE": ProblemCode(
        "A state has the fields of the query language that it speaks.",
        "Set `QueryLanguage`, or use the fields of the other language.",
        alone("Pass", Output={"a": 1}),
    ),
    "ASL_QUERY_LANGUAGE_REVERTED": ProblemCode(
        "A state of a JSONata machine speaks JSONata.",
        "Leave the machine's language JSONPath and set JSONata state by state.",
        {**_JSONATA, **alone("Pass", QueryLanguage="JSONPath")},
    ),
    "ASL_BAD_PATH": ProblemCode(
        "A path is JSONPath that starts with `$`, `$$` or `$name`.",
        "Write for example `$.order.items[0]`.",
        alone("Pass", InputPath="order"),
    ),
    "ASL_BAD_REFERENCE_PATH": ProblemCode(
        "Where one value is meant, a path names exactly one place.",
        "Use fields and indexes only.",
        alone("Pass", ResultPath="$.items[*]"),
    ),
    "ASL_BAD_TEMPLATE": ProblemCode(
        "The value of a field that ends in `.$` is a path or an intrinsic call.",
        "Write a string, or leave `.$` out of the name.",
        alone("Pass", Parameters={"count.$": 3}),
    ),
    "ASL_TEMPLATE_KEY_CLASH": ProblemCode(
        "Two fields of a template do not become the same field.",
        "Keep one of the two.",
        alone("Pass", Parameters={"id": 1, "id.$": "$.id"}),
    ),
    "ASL_BAD_INTRINSIC": ProblemCode(
        "An intrinsic call names a function of the language, with arguments as it takes them.",
        "Write for example `States.Format('order {}', $.id)`.",
        alone("Pass", Parameters={"text.$": "States.Fromat('{}', $.id)"}),
    ),
    "ASL_BAD_JSONATA": ProblemCode(
        "What stands in `{% … %}` is a JSONata expression.",
        "Check it; write for example `{% $states.input.total > 10 %}`.",
        {**_JSONATA, **alone("Pass", Output="{% 1 + %}")},
    ),
    "ASL_UNCLOSED_JSONATA": ProblemCode(
        "A text that starts with `{%` ends with `%}`, and one that ends with `%}` has a `{%`.",
        "Write the mark that is missing.",
        {**_JSONATA, **alone("Pass", Output="{% $states.input.total")},
    ),
    "ASL_UNSUPPORTED_JSONATA": ProblemCode(
        "An expression starts from `$states` or a variable; `$$` is not available,"
        " `$states.errorOutput` in `Catch` only, and `$states.result` in `Output` and `Assign` of a"
        " Task, Parallel or Map.",
        "Write `$states.input.name` for the input, `$name` for a variable.",
        {**_JSONATA, **alone("Pass", Output="{% total > 10 %}")},
    ),
    "ASL_UNKNOWN_FUNCTION": ProblemCode(
        "A function that an expression calls is one of JSONata or Step Functions, or its own.",
        "Check the spelling; for `$eval` there is `$parse`.",
        {**_JSONATA, **alone("Pass", Output="{% $uppercas($states.input.name) %}")},
        is_warning=True,
    ),
    "ASL_NOT_IN_STATES": ProblemCode(
        "`$states` has `input`, `context`, `result` and `errorOutput`.",
        "Check the spelling.",
        {**_JSONATA, **alone("Pass", Output="{% $states.contxt.Execution.Id %}")},
        is_warning=True,
    ),
    "ASL_NOT_EVALUATED": ProblemCode(
        "In a JSONata state a text is evaluated that is `{% … %}` from its first to its last"
        " character.",
        "Write `{% 'order ' & $states.input.id %}`.",
        {**_JSONATA, **alone("Pass", Output="order {% $states.input.id %}")},
        is_warning=True,
    ),
    "ASL_BAD_VARIABLE_NAME": ProblemCode(
        "A variable is named by a letter, then letters, digits and `_`, at most 80 characters, and"
        " not `states`.",
        "Choose another name.",
        alone("Pass", Assign={"order-id": 1}),
    ),
    "ASL_VARIABLE_NEVER_ASSIGNED": ProblemCode(
        "A variable that is read is assigned in the same machine or one around it.",
        "Assign it with `Assign` in a state before.",
        alone("Pass", Parameters={"id.$": "$order.id"}),
        is_warning=True,
    ),
    "ASL_VARIABLE_TOO_EARLY": ProblemCode(
        "What a state assigns is read in the states after it.",
        "Write the value itself, not the variable.",
        {**_JSONATA, **alone("Pass", Assign={"total": 1}, Output="{% $total %}")},
        is_warning=True,
    ),
    "ASL_VARIABLE_HIDDEN": ProblemCode(
        "An inner machine does not assign a variable that the one around it assigns.",
        "Use another name.",
        alone(
            "Parallel",
            Assign={"total": 1},
            Branches=[machine(B={"Type": "Pass", "Assign": {"total": 2}, "End": True})],
        ),
        is_warning=True,
    ),
    "ASL_BAD_CHOICE_RULE": ProblemCode(
        "A rule compares once, or combines rules with `And`, `Or` or `Not`.",
        "Combine several comparisons with `And` or `Or`.",
        _choice({"Variable": "$.n", "IsNumeric": True, "IsNull": False, "Next": "B"}),
    ),
    "ASL_BAD_ERROR_EQUALS": ProblemCode(
        "`States.ALL` stands alone in `ErrorEquals`, in the last entry.",
        "Move it to an entry of its own at the end.",
        alone("Task", Resource=_LAMBDA, Retry=[{"ErrorEquals": ["States.ALL", "Busy"]}]),
    ),
    "ASL_UNKNOWN_ERROR_NAME": ProblemCode(
        "A name in `ErrorEquals` that starts with `States.` is an error of the language, or one"
        " that a Fail state raises.",
        "Check the spelling.",
        alone("Task", Resource=_LAMBDA, Retry=[{"ErrorEquals": ["States.Timout"]}]),
        is_warning=True,
    ),
    "ASL_BAD_WAIT": ProblemCode(
        "A Wait has exactly one of its times.",
        "Keep one of `Seconds`, `SecondsPath`, `Timestamp`, `TimestampPath`.",
        alone("Wait"),
    ),
    "ASL_BAD_TIMESTAMP": ProblemCode(
        "A time is written as RFC 3339 asks, with `T` and an offset or `Z`.",
        "Write `2016-03-14T01:59:00Z`.",
        alone("Wait", Timestamp="2016-03-14 01:59:00"),
    ),
    "ASL_CONSTANT_PATH": ProblemCode(
        "A value that looks like a path is evaluated only where the field's name ends in `.$`.",
        "Name the field `id.$`.",
        alone("Pass", Parameters={"id": "$.order.id"}),
        is_warning=True,
    ),
    "ASL_STATIC_RESULT": ProblemCode(
        "`Result` of a Pass is taken as it is.",
        "Use `Parameters` to evaluate paths.",
        alone("Pass", Result={"id.$": "$.order.id"}),
        is_warning=True,
    ),
    "ASL_JSONATA_IN_JSONPATH": ProblemCode(
        "`{% … %}` is evaluated only where JSONata is spoken.",
        "Set `QueryLanguage` to `JSONata`.",
        alone("Pass", Parameters={"id": "{% $states.input.id %}"}),
        is_warning=True,
    ),
    "ASL_MERGED_BRANCHES": ProblemCode(
        "Branches whose results are merged into one object write members of different names.",
        "Write another name in one of them, or take the member of the branch you mean.",
        {
            **_JSONATA,
            **alone(
                "Parallel",
                Branches=[
                    machine(**{name: {"Type": "Pass", "Output": {"status": name}, "End": True}})
                    for name in ("Paid", "Sent")
                ],
                Output="{% $merge($states.result) %}",
            ),
        },
        is_warning=True,
    ),
    "ASL_DROPPED_FIELD": ProblemCode(
        "What a state reads is still there after the one before it.",
        "Give the state before a `ResultPath`, which keeps its input.",
        machine(
            A={"Type": "Task", "Resource": _LAMBDA, "Next": "B"},
            B={"Type": "Pass", "InputPath": "$.order", "End": True},
        ),
        is_warning=True,
    ),
}
"""By code; see ``dcf.asl.checks.problem_codes``."""
