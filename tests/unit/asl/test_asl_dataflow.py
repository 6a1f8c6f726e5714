"""InputPath, Parameters, Result, ResultSelector, ResultPath and OutputPath, in that order."""

from __future__ import annotations

import copy

import pytest
from asl_builders import alone, codes, enter, passed, react
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import Failure, TaskSucceeded, Transition, Visit
from dcf.asl.jsonpath.reference import ReferencePath

TASK = {"Type": "Task", "Resource": "work"}


def test_a_pass_without_fields_gives_its_input() -> None:
    assert passed({}, {"a": 1}) == {"a": 1}


def test_result_is_data_not_a_template() -> None:
    assert passed({"Result": {"x.$": "$.a"}}, {"a": 1}) == {"x.$": "$.a"}


def test_a_null_result_is_a_result() -> None:
    assert passed({"Result": None}, {"a": 1}) is None


def test_input_path_null_gives_an_empty_object() -> None:
    assert passed({"InputPath": None}, {"a": 1}) == {}


def test_output_path_null_gives_an_empty_object() -> None:
    assert passed({"OutputPath": None}, {"a": 1}) == {}


def test_result_path_puts_the_result_into_the_raw_input() -> None:
    fields = {"InputPath": "$.sub", "ResultPath": "$.copy"}

    assert passed(fields, {"sub": {"n": 1}}) == {"sub": {"n": 1}, "copy": {"n": 1}}


def test_result_path_null_discards_the_result() -> None:
    assert passed({"Result": 1, "ResultPath": None}, {"a": 1}) == {"a": 1}


def test_result_path_creates_missing_objects() -> None:
    assert passed({"Result": 7, "ResultPath": "$.b.c"}, {"a": 1}) == {"a": 1, "b": {"c": 7}}


def test_result_path_replaces_what_stood_there() -> None:
    # The example of the specification: "master.detail" receives the result 6.
    data = {"master": {"detail": [1, 2, 3]}}

    assert passed({"Result": 6, "ResultPath": "$.master.detail"}, data) == {"master": {"detail": 6}}


@pytest.mark.parametrize("data", [[1, 2], "text", 3, None, {"b": "text"}])
def test_result_path_that_fits_not_is_a_match_failure(data: object) -> None:
    effect = enter({"Type": "Pass", "Result": 1, "ResultPath": "$.b.c"}, data)

    assert isinstance(effect, Failure)
    assert effect.error == "States.ResultPathMatchFailure"


def test_parameters_are_filled_from_input_and_context() -> None:
    template = {
        "flagged": True,
        "parts": {"first.$": "$.vals[0]", "last3.$": "$.vals[-3:]"},
        "list": [{"n.$": "$.n"}, "fixed"],
        "who.$": "$$.State.Name",
    }
    data = {"n": 2, "vals": [0, 10, 20, 30, 40, 50]}

    assert enter({**TASK, "Parameters": template}, data).arguments == {
        "flagged": True,
        "parts": {"first": 0, "last3": [30, 40, 50]},
        "list": [{"n": 2}, "fixed"],
        "who": "S",
    }


def test_parameters_see_the_effective_input() -> None:
    state = {**TASK, "InputPath": "$.sub", "Parameters": {"n.$": "$.n"}}

    assert enter(state, {"sub": {"n": 5}}).arguments == {"n": 5}


def test_result_selector_shapes_the_result_before_result_path() -> None:
    state = {
        **TASK,
        "ResultSelector": {"id.$": "$.body.id", "in.$": "$$.Execution.Input"},
        "ResultPath": "$.r",
        "OutputPath": "$.r",
    }
    context = {"Execution": {"Input": 9}}

    effect = react(state, {}, TaskSucceeded({"body": {"id": 3}}), context=context)

    assert effect == Transition("Next", {"id": 3, "in": 9}, {})


def test_a_result_selector_that_finds_nothing_is_a_runtime_error() -> None:
    state = {**TASK, "ResultSelector": {"id.$": "$.id"}}

    assert react(state, {}, TaskSucceeded({})).error == "States.Runtime"


@pytest.mark.parametrize(
    ("template", "code", "place"),
    [
        ({"a.$": 3}, "ASL_BAD_TEMPLATE", "/a.$"),
        ({"a.$": "plain"}, "ASL_BAD_PATH", "/a.$"),
        ({"a.$": "$.x", "a": 1}, "ASL_TEMPLATE_KEY_CLASH", "/a.$"),
        ({"l": [{"a.$": "$["}]}, "ASL_BAD_PATH", "/l/0/a.$"),
        ({"a.$": "States.Foo()"}, "ASL_BAD_INTRINSIC", "/a.$"),
    ],
)
def test_a_bad_template_is_refused_where_it_is_bad(
    template: dict[str, object], code: str, place: str
) -> None:
    found = codes(alone({**TASK, "Parameters": template}))

    assert found == [(code, f"/States/S/Parameters{place}")]


@pytest.mark.parametrize("path", ["$.a[*]", "$..a", "$$.Execution", "$.a[-1]", "$.a[0:1]"])
def test_result_path_must_be_a_reference_path(path: str) -> None:
    assert codes(alone({**TASK, "ResultPath": path})) == [
        ("ASL_BAD_REFERENCE_PATH", "/States/S/ResultPath")
    ]


NAMES = st.lists(st.text("abcxyz", min_size=1, max_size=3), min_size=1, max_size=4)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    max_leaves=8,
)


@given(names=NAMES, value=JSON_VALUES)
def test_what_a_reference_path_puts_a_path_reads_back(names: list[str], value: object) -> None:
    path = "$." + ".".join(names)

    whole = ReferencePath(path).put({}, value)

    assert passed({"OutputPath": path}, whole) == value


@given(data=st.dictionaries(st.text("abx", min_size=1), JSON_VALUES, max_size=4), new=JSON_VALUES)
def test_a_step_never_mutates_its_input(data: dict[str, object], new: object) -> None:
    before = copy.deepcopy(data)
    state = {**TASK, "Parameters": {"all.$": "$"}, "ResultPath": "$.a.b", "OutputPath": "$.a"}

    react(state, data, TaskSucceeded(new))
    enter(state, data)

    assert data == before


def test_outputs_keep_the_order_of_the_template() -> None:
    assert list(passed({"Parameters": {"b.$": "$", "a": 1, "c.$": "$"}}, 0)) == ["b", "a", "c"]


def test_a_visit_needs_only_input_and_context() -> None:
    assert Visit({}, {}).retries == {}


def test_parameters_may_be_an_array_of_templates() -> None:
    template = [{"n.$": "$.n"}, "fixed", [{"id.$": "$.n"}]]
    effect = enter({"Type": "Pass", "Parameters": template}, {"n": 1})
    assert effect.output == [{"n": 1}, "fixed", [{"id": 1}]]
    assert codes(alone({**TASK, "ResultSelector": template})) == [
        ("ASL_WRONG_TYPE", "/States/S/ResultSelector")
    ]


@pytest.mark.parametrize("index", ["[2]", "[-3]"])
def test_an_index_past_the_end_is_null_in_a_template(index: str) -> None:
    """As AWS has it; an intrinsic function refuses the same path, and a choice rule misses it."""
    data = {"items": [1, 2]}

    assert passed({"Parameters": {"v.$": f"$.items{index}"}}, data) == {"v": None}


@pytest.mark.parametrize("path", ["$.items[2].x", "$.items[0][0]", "$.none[0]", "$.items.x"])
def test_nothing_else_that_is_missing_is_null_in_a_template(path: str) -> None:
    effect = enter({"Type": "Pass", "Parameters": {"v.$": path}}, {"items": [1, 2]})

    assert effect.error == "States.Runtime"
    assert f"The JSONPath '{path}' specified for the field 'v.$'" in effect.cause
