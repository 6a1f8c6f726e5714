"""Choice: operators, their Path variants, combinations and the default."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, codes, enter, evaluated
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import Failure, Transition


def holds(rule: dict[str, Any], data: Any) -> bool:
    """Whether ``rule`` matches ``data``."""
    effect = enter({"Type": "Choice", "Choices": [{**rule, "Next": "S"}]}, data)
    assert isinstance(effect, Transition), effect
    return effect.next == "S"


@pytest.mark.parametrize(
    ("operator", "operand", "value", "expected"),
    [
        ("StringEquals", "a", "a", True),
        ("StringEquals", "1", 1, False),
        ("StringLessThan", "b", "a", True),
        ("StringLessThan", "a", "a", False),
        ("StringGreaterThan", "A", "a", True),
        ("StringLessThanEquals", "a", "a", True),
        ("StringGreaterThanEquals", "b", "a", False),
        ("StringMatches", "log-*.txt", "log-2026.txt", True),
        ("StringMatches", "*", "", True),
        ("StringMatches", "a*b*c", "a--b--c", True),
        ("StringMatches", "a*a", "a", False),
        ("StringMatches", r"\*", "*", True),
        ("StringMatches", r"\*", "x", False),
        ("StringMatches", r"a\\*", "a\\more", True),
        ("StringMatches", "a", 1, False),
        ("NumericEquals", 1, 1.0, True),
        ("NumericEquals", 1, True, False),
        ("NumericEquals", 1, "1", False),
        ("NumericLessThan", 20, 19.9, True),
        ("NumericLessThanEquals", 20, 20, True),
        ("NumericGreaterThan", 20, 20, False),
        ("NumericGreaterThanEquals", 20, 20, True),
        ("BooleanEquals", True, True, True),
        ("BooleanEquals", True, 1, False),
        ("BooleanEquals", False, None, False),
        ("TimestampEquals", "2001-01-01T12:00:00Z", "2001-01-01T13:00:00+01:00", True),
        ("TimestampEquals", "2001-01-01T12:00:00Z", "2001-01-01", False),
        ("TimestampLessThan", "2001-01-01T12:00:00Z", "2001-01-01T11:59:59.999Z", True),
        ("TimestampLessThanEquals", "2001-01-01T12:00:00Z", "2001-01-01T12:00:00.000Z", True),
        ("TimestampGreaterThan", "2001-01-01T12:00:00Z", "2001-01-01T12:00:01Z", True),
        ("TimestampGreaterThanEquals", "2001-01-01T12:00:00Z", "2000-01-01T12:00:01Z", False),
        ("IsNull", True, None, True),
        ("IsNull", False, 0, True),
        ("IsPresent", True, None, True),
        ("IsPresent", False, [], False),
        ("IsNumeric", True, 1.5, True),
        ("IsNumeric", True, True, False),
        ("IsString", True, "x", True),
        ("IsBoolean", True, False, True),
        ("IsTimestamp", True, "2001-01-01T12:00:00Z", True),
        ("IsTimestamp", True, "2001-01-01T12:00:00", False),
    ],
)
def test_an_operator_compares_values_of_its_type(
    operator: str, operand: object, value: object, expected: bool
) -> None:
    assert holds({"Variable": "$.v", operator: operand}, {"v": value}) is expected


@pytest.mark.parametrize(
    ("operator", "variable", "value", "expected"),
    [
        ("StringEqualsPath", "a", "a", True),
        ("StringLessThanPath", "A", "AB", True),
        ("NumericGreaterThanEqualsPath", 3, 3, True),
        ("NumericEqualsPath", 3, "3", False),
        ("BooleanEqualsPath", True, True, True),
        ("TimestampLessThanPath", "2001-01-01T12:00:00Z", "2001-01-02T12:00:00Z", True),
    ],
)
def test_a_path_variant_takes_its_operand_from_the_data(
    operator: str, variable: object, value: object, expected: bool
) -> None:
    data = {"variable": variable, "value": value}

    assert holds({"Variable": "$.variable", operator: "$.value"}, data) is expected


def test_texts_are_ordered_by_their_units_of_utf_16() -> None:
    """state-choice.html: as `compareTo` of Java does, to which U+10000 begins with U+D800."""
    beyond, before = "\U00010000", "\uff61"

    assert holds({"Variable": "$", "StringLessThan": before}, beyond)
    assert not holds({"Variable": "$", "StringGreaterThanEquals": before}, beyond)
    assert evaluated(f"$[?(@.t < '{before}')].t", [{"t": beyond}, {"t": before}]) == [beyond]


def test_is_present_asks_whether_the_path_finds_anything() -> None:
    assert holds({"Variable": "$.a.b", "IsPresent": False}, {"a": 1})
    assert not holds({"Variable": "$.a[?(@ > 5)]", "IsPresent": True}, {"a": [1]})
    assert holds({"Variable": "$.a[?(@ > 5)]", "IsPresent": True}, {"a": [9]})


@pytest.mark.parametrize(
    "rule",
    [
        {"Variable": "$.missing", "NumericEquals": 1},
        {"Variable": "$.v", "NumericEqualsPath": "$.missing"},
    ],
)
def test_comparing_what_is_missing_is_a_runtime_error(rule: dict[str, Any]) -> None:
    effect = enter({"Type": "Choice", "Choices": [{**rule, "Next": "Next"}]}, {"v": 1})

    assert isinstance(effect, Failure)
    assert effect.error == "States.Runtime"


def test_and_or_not_combine_rules() -> None:
    big = {"Variable": "$.n", "NumericGreaterThan": 20}
    small = {"Variable": "$.n", "NumericLessThan": 30}

    assert [holds({"And": [big, small]}, {"n": n}) for n in (20, 25, 30)] == [False, True, False]
    assert holds({"Or": [{"Not": big}, small]}, {"n": 1})
    assert not holds({"Not": {"Or": [big, small]}}, {"n": 1})


def test_and_stops_at_the_first_rule_that_fails() -> None:
    rules = [{"Variable": "$.v", "IsPresent": True}, {"Variable": "$.v", "NumericEquals": 1}]

    assert not holds({"And": rules}, {})


def test_the_first_matching_rule_wins() -> None:
    rules = [
        {"Variable": "$.n", "NumericGreaterThan": 0, "Next": "Next"},
        {"Variable": "$.n", "NumericGreaterThan": 1, "Next": "S"},
    ]

    assert enter({"Type": "Choice", "Choices": rules}, {"n": 5}).next == "Next"


def test_a_choice_passes_its_input_on_through_its_paths() -> None:
    state = {
        "Type": "Choice",
        "InputPath": "$.in",
        "OutputPath": "$.n",
        "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "Next"}],
    }

    assert enter(state, {"in": {"n": 1}}) == Transition("Next", 1, {})


def test_no_match_without_default_is_no_choice_matched() -> None:
    from dcf.asl import Entered, Visit, parse, step

    machine = parse(
        {
            "StartAt": "C",
            "States": {
                "C": {
                    "Type": "Choice",
                    "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "E"}],
                },
                "E": {"Type": "Succeed"},
            },
        }
    )

    effect = step(machine.states["C"], Visit({"n": 2}, {}), Entered())

    assert isinstance(effect, Failure)
    assert effect.error == "States.Runtime"


@pytest.mark.parametrize(
    ("rule", "code", "place"),
    [
        ({"Next": "Next"}, "ASL_BAD_CHOICE_RULE", ""),
        ({"Variable": "$.a", "Next": "Next"}, "ASL_BAD_CHOICE_RULE", ""),
        ({"NumericEquals": 1, "Next": "Next"}, "ASL_MISSING_FIELD", ""),
        ({"Variable": "$.a", "NumericEquals": 1}, "ASL_MISSING_FIELD", ""),
        (
            {"Variable": "$.a", "NumericEquals": 1, "IsNull": True, "Next": "Next"},
            "ASL_BAD_CHOICE_RULE",
            "",
        ),
        (
            {"Variable": "$.a", "NumericEquals": "1", "Next": "Next"},
            "ASL_WRONG_TYPE",
            "/NumericEquals",
        ),
        (
            {"Variable": "$.a", "TimestampEquals": "x", "Next": "Next"},
            "ASL_BAD_TIMESTAMP",
            "/TimestampEquals",
        ),
        ({"Variable": "a", "IsNull": True, "Next": "Next"}, "ASL_BAD_PATH", "/Variable"),
        ({"And": [], "Next": "Next"}, "ASL_BAD_CHOICE_RULE", "/And"),
        (
            {"Not": {"Variable": "$.a", "IsNull": True, "Next": "Next"}, "Next": "Next"},
            "ASL_UNKNOWN_FIELD",
            "/Not/Next",
        ),
    ],
)
def test_a_bad_rule_is_refused_where_it_is_bad(rule: dict[str, Any], code: str, place: str) -> None:
    found = codes(alone({"Type": "Choice", "Choices": [rule]}))

    assert found == [(code, f"/States/S/Choices/0{place}")]


def test_an_unknown_operator_suggests_the_closest_one() -> None:
    from dcf.asl import validate

    rule = {"Variable": "$.a", "NumericEqual": 1, "Next": "Next"}
    hints = [p.hint for p in validate(alone({"Type": "Choice", "Choices": [rule]}))]

    assert "did you mean `NumericEquals`?" in hints


@pytest.mark.parametrize("choices", [[], None])
def test_a_choice_needs_rules(choices: object) -> None:
    state = {"Type": "Choice"} if choices is None else {"Type": "Choice", "Choices": choices}

    assert len(codes(alone(state))) == 1


@given(text=st.text("ab*", max_size=8), middle=st.text("ab", max_size=4))
def test_a_pattern_matches_each_text_made_from_it(text: str, middle: str) -> None:
    rule = {"Variable": "$", "StringMatches": text}

    assert holds(rule, text.replace("*", middle))


@pytest.mark.parametrize("pattern", ["a\\", r"a\b", r"\\\x*"])
def test_a_backslash_that_escapes_nothing_is_an_error(pattern: str) -> None:
    """The specification, Choice state: an open escape is an error at run time."""
    rule = {"Variable": "$", "StringMatches": pattern, "Next": "S"}
    effect = enter({"Type": "Choice", "Choices": [rule]}, "a")

    assert isinstance(effect, Failure)
    assert effect.error == "States.Runtime"


def test_many_stars_on_a_long_text_are_no_trouble() -> None:
    assert not holds({"Variable": "$", "StringMatches": "*a" * 30 + "b"}, "a" * 20_000)
