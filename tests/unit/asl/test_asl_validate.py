"""validate: every problem at once, each where it stands."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, codes, machine_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import DefinitionError, parse, validate

PASS_END = {"Type": "Pass", "End": True}


def test_the_hello_world_of_the_specification_is_valid() -> None:
    definition = {
        "Comment": "A simple minimal example of the States language",
        "StartAt": "Hello World",
        "Version": "1.0",
        "TimeoutSeconds": 60,
        "States": {
            "Hello World": {
                "Type": "Task",
                "Resource": "arn:aws:states:::lambda:invoke",
                "End": True,
            },
        },
    }

    assert validate(definition) == []
    assert parse(definition).timeout_s == 60


def test_problems_are_found_all_at_once() -> None:
    definition = {
        "StartAt": "A",
        "States": {
            "A": {"Type": "Task", "Next": "Nowhere", "ResultPath": "$[*]"},
            "B": {"Type": "Wait", "End": True},
        },
    }

    assert sorted(codes(definition)) == [
        ("ASL_BAD_REFERENCE_PATH", "/States/A/ResultPath"),
        ("ASL_BAD_WAIT", "/States/B"),
        ("ASL_MISSING_FIELD", "/States/A"),
        ("ASL_UNKNOWN_STATE", "/States/A/Next"),
    ]


def test_parse_raises_with_every_error() -> None:
    with pytest.raises(DefinitionError) as caught:
        parse({})

    assert [(p.code, p.path) for p in caught.value.problems] == [
        ("ASL_MISSING_FIELD", ""),
        ("ASL_MISSING_FIELD", ""),
    ]


def test_a_pointer_escapes_the_names_of_states() -> None:
    definition = machine_of(**{"a/b~c": {"Type": "Nope", "End": True}})

    assert ("ASL_UNKNOWN_TYPE", "/States/a~1b~0c/Type") in codes(definition)


@pytest.mark.parametrize("definition", [None, [], "text", 3])
def test_a_definition_is_an_object(definition: Any) -> None:
    assert codes(definition) == [("ASL_WRONG_TYPE", "")]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"StartAt": "X"}, [("ASL_UNKNOWN_STATE", "/StartAt")]),
        ({"StartAt": 1}, [("ASL_WRONG_TYPE", "/StartAt")]),
        ({"States": []}, [("ASL_WRONG_TYPE", "/States")]),
        ({"States": {}}, [("ASL_OUT_OF_RANGE", "/States")]),
        ({"Version": "2.0"}, [("ASL_OUT_OF_RANGE", "/Version")]),
        ({"TimeoutSeconds": -1}, [("ASL_OUT_OF_RANGE", "/TimeoutSeconds")]),
        ({"TimeoutSeconds": "9"}, [("ASL_WRONG_TYPE", "/TimeoutSeconds")]),
        ({"Coment": "x"}, [("ASL_UNKNOWN_FIELD", "/Coment")]),
        ({"Comment": 1}, [("ASL_WRONG_TYPE", "/Comment")]),
        ({"QueryLanguage": "SQL"}, [("ASL_OUT_OF_RANGE", "/QueryLanguage")]),
    ],
)
def test_a_bad_field_of_the_machine_is_found(
    change: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    assert codes({"StartAt": "A", "States": {"A": PASS_END}, **change}) == found


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("text", [("ASL_WRONG_TYPE", "/States/A")]),
        ({"End": True}, [("ASL_MISSING_FIELD", "/States/A")]),
        ({"Type": 3, "End": True}, [("ASL_WRONG_TYPE", "/States/A/Type")]),
        ({"Type": "Pas", "End": True}, [("ASL_UNKNOWN_TYPE", "/States/A/Type")]),
        ({"Type": "Pass", "End": "yes"}, [("ASL_WRONG_TYPE", "/States/A/End")]),
        (
            {"Type": "Pass", "End": True, "Next": "A"},
            [("ASL_NEXT_AND_END", "/States/A")],
        ),
        ({"Type": "Pass"}, [("ASL_NO_TRANSITION", "/States/A")]),
        ({"Type": "Pass", "End": False}, [("ASL_NO_TRANSITION", "/States/A")]),
        ({"Type": "Succeed", "End": True}, [("ASL_UNKNOWN_FIELD", "/States/A/End")]),
        ({"Type": "Fail", "InputPath": "$"}, [("ASL_UNKNOWN_FIELD", "/States/A/InputPath")]),
        (
            {"Type": "Pass", "End": True, "Resource": "r"},
            [("ASL_UNKNOWN_FIELD", "/States/A/Resource")],
        ),
        (
            {"Type": "Fail", "Error": "E", "ErrorPath": "$.e"},
            [("ASL_FIELD_CLASH", "/States/A/ErrorPath")],
        ),
        ({"Type": "Fail", "Cause": 1}, [("ASL_WRONG_TYPE", "/States/A/Cause")]),
        (
            {"Type": "Fail", "ErrorPath": "States.MathAdd($.a, 1)", "CausePath": "States.UUID()"},
            [("ASL_BAD_INTRINSIC", "/States/A/ErrorPath")],
        ),
        (
            {"Type": "Fail", "CausePath": "States.StringSplit($.a, ',')"},
            [("ASL_BAD_INTRINSIC", "/States/A/CausePath")],
        ),
        ({"Type": "Wait", "End": True}, [("ASL_BAD_WAIT", "/States/A")]),
        (
            {"Type": "Wait", "End": True, "Seconds": 1, "SecondsPath": "$.s"},
            [("ASL_BAD_WAIT", "/States/A")],
        ),
        (
            {"Type": "Wait", "End": True, "Timestamp": "2016-12-05 21:29:29Z"},
            [("ASL_BAD_TIMESTAMP", "/States/A/Timestamp")],
        ),
        (
            {"Type": "Wait", "End": True, "Timestamp": "2016-13-05T21:29:29Z"},
            [("ASL_BAD_TIMESTAMP", "/States/A/Timestamp")],
        ),
        (
            {"Type": "Wait", "End": True, "Seconds": -1},
            [("ASL_OUT_OF_RANGE", "/States/A/Seconds")],
        ),
        ({"Type": "Task", "End": True}, [("ASL_MISSING_FIELD", "/States/A")]),
        (
            {"Type": "Task", "End": True, "Resource": ""},
            [("ASL_OUT_OF_RANGE", "/States/A/Resource")],
        ),
        (
            {
                "Type": "Task",
                "End": True,
                "Resource": "r",
                "TimeoutSeconds": 5,
                "HeartbeatSeconds": 5,
            },
            [("ASL_OUT_OF_RANGE", "/States/A/HeartbeatSeconds")],
        ),
        (
            {"Type": "Task", "End": True, "Resource": "r", "Parameters": 1},
            [("ASL_WRONG_TYPE", "/States/A/Parameters")],
        ),
        ({"Type": "Map", "End": True}, [("ASL_MISSING_FIELD", "/States/A")]),
        (
            {
                "Type": "Map",
                "End": True,
                "ItemProcessor": {"StartAt": "B", "States": {"B": PASS_END}},
                "MaxConcurrency": -1,
                "Iterator": {},
            },
            [
                ("ASL_FIELD_CLASH", "/States/A/Iterator"),
                ("ASL_OUT_OF_RANGE", "/States/A/MaxConcurrency"),
            ],
        ),
        ({"Type": "Parallel", "End": True}, [("ASL_MISSING_FIELD", "/States/A")]),
        (
            {"Type": "Parallel", "End": True, "Branches": []},
            [("ASL_OUT_OF_RANGE", "/States/A/Branches")],
        ),
        (
            {"Type": "Parallel", "End": True, "Branches": [{"StartAt": "B", "TimeoutSeconds": 1}]},
            [
                ("ASL_UNKNOWN_FIELD", "/States/A/Branches/0/TimeoutSeconds"),
                ("ASL_MISSING_FIELD", "/States/A/Branches/0"),
            ],
        ),
    ],
)
def test_a_bad_state_is_found(state: Any, found: list[tuple[str, str]]) -> None:
    assert codes({"StartAt": "A", "States": {"A": state}}) == found


def test_a_name_has_at_most_80_characters() -> None:
    assert codes(machine_of(**{"x" * 80: PASS_END})) == []
    too_long = codes(machine_of(**{"x" * 81: PASS_END}))
    assert [code for code, _ in too_long] == ["ASL_BAD_STATE_NAME"]


def test_names_are_unique_across_nested_machines() -> None:
    branch = {"StartAt": "A", "States": {"A": PASS_END}}
    state = {"Type": "Parallel", "Branches": [branch, branch], "End": True}

    assert codes(machine_of(P=state)) == [
        ("ASL_DUPLICATE_STATE_NAME", "/States/P/Branches/1/States/A")
    ]


def test_a_transition_stays_inside_its_machine() -> None:
    branch = {"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "Out"}}}
    definition = machine_of(
        P={"Type": "Parallel", "Branches": [branch], "Next": "Out"}, Out={"Type": "Succeed"}
    )

    assert codes(definition) == [
        ("ASL_UNKNOWN_STATE", "/States/P/Branches/0/States/B/Next"),
    ]


def test_every_kind_of_dangling_transition_is_found() -> None:
    rule = {"Variable": "$", "IsNull": True, "Next": "W"}
    definition = machine_of(
        C={"Type": "Choice", "Choices": [rule], "Default": "X"},
    )

    assert codes(definition) == [
        ("ASL_UNKNOWN_STATE", "/States/C/Default"),
        ("ASL_UNKNOWN_STATE", "/States/C/Choices/0/Next"),
    ]


def test_a_typo_in_a_transition_suggests_the_name() -> None:
    definition = machine_of(A={"Type": "Pass", "Next": "Shipp"}, Ship=PASS_END)

    assert validate(definition)[0].hint == "did you mean `Ship`?"


def test_a_machine_that_nothing_ends_is_refused() -> None:
    definition = machine_of(A={"Type": "Pass", "Next": "B"}, B={"Type": "Pass", "Next": "A"})

    assert codes(definition) == [("ASL_NO_TERMINAL_STATE", "/States")]


def test_a_cycle_that_cannot_be_left_is_a_warning() -> None:
    rule = {"Variable": "$", "IsNull": True, "Next": "Out"}
    definition = machine_of(
        C={"Type": "Choice", "Choices": [rule], "Default": "L1"},
        L1={"Type": "Pass", "Next": "L2"},
        L2={"Type": "Pass", "Next": "L1"},
        Out=PASS_END,
    )

    problems = validate(definition)

    assert [(p.code, p.path, p.severity) for p in problems] == [
        ("ASL_CYCLE_WITHOUT_EXIT", "/States/L1", "warning")
    ]
    assert parse(definition).start_at == "C"


def test_a_cycle_with_an_exit_is_fine() -> None:
    rule = {"Variable": "$.n", "NumericEquals": 0, "Next": "Out"}
    definition = machine_of(
        C={"Type": "Choice", "Choices": [rule], "Default": "Work"},
        Work={"Type": "Task", "Resource": "r", "Next": "C"},
        Out=PASS_END,
    )

    assert validate(definition) == []


def test_machines_nest_at_most_16_deep() -> None:
    definition: dict[str, Any] = {"StartAt": "S17", "States": {"S17": PASS_END}}
    for depth in range(17):
        state = {"Type": "Parallel", "Branches": [definition], "End": True}
        definition = {"StartAt": f"S{depth}", "States": {f"S{depth}": state}}

    assert [code for code, _ in codes(definition)] == ["ASL_TOO_DEEP"]


def test_a_definition_nests_at_most_100_deep() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}

    assert codes({"StartAt": "A", "States": deep}) == [("ASL_TOO_DEEP", "")]


def test_a_definition_is_plain_json() -> None:
    import datetime

    definition = machine_of(A={"Type": "Pass", "Result": {1: float("nan")}, "End": True})
    definition["Comment"] = datetime.date(2026, 1, 1)

    assert sorted(codes(definition)) == [
        ("ASL_NOT_JSON", "/Comment"),
        ("ASL_NOT_JSON", "/States/A/Result"),
        ("ASL_NOT_JSON", "/States/A/Result/1"),
    ]


def test_every_problem_says_what_to_do_or_what_was_found() -> None:
    problems = validate(alone({"Type": "Task", "Retry": [{}], "Foo": 1}))

    assert len(problems) == 3
    assert all(problem.message and problem.path for problem in problems)


FIELDS = st.sampled_from(
    [
        "Type", "Next", "End", "Choices", "Default", "Variable", "And", "Not", "IsNull", "Retry",
        "Catch", "ErrorEquals", "Branches", "States", "StartAt", "Parameters", "x.$", "Seconds",
        "ItemProcessor", "ItemsPath", "AgentBinding", "QueryLanguage", "MaxConcurrency",
        "ResultPath", "memory",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    ["Pass", "Choice", "Map", "Parallel", "Task", "Wait", "A", "$", "$.a", "$..", "$[", "JSONata",
     "States.ALL", "States.Format('{}')", ""]
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(FIELDS, ANYTHING), st.dictionaries(st.sampled_from("AB"), ANYTHING))
def test_validate_never_raises(machine: dict[str, Any], states: dict[str, Any]) -> None:
    validate({"StartAt": "A", "States": states})
    validate(machine)
