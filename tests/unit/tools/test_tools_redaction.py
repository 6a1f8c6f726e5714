"""Secrets never come back out of a tool server."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from dcf.tools import ToolDescription, ToolResult
from dcf.tools.redaction import Redactor


def test_a_secret_is_replaced_wherever_it_stands_in_a_result() -> None:
    redactor = Redactor({"TOKEN": "s3cret-value", "SHORT": "abc"})
    result = ToolResult(
        {"headers": ["Bearer s3cret-value"], "s3cret-value": {"n": 1, "t": None}, "abc": True},
        "Authorization: Bearer s3cret-value",
        True,
        "s3cret-value",
    )
    assert redactor.result(result) == ToolResult(
        {"headers": ["Bearer [secret TOKEN]"], "[secret TOKEN]": {"n": 1, "t": None}, "abc": True},
        "Authorization: Bearer [secret TOKEN]",
        True,
        "[secret TOKEN]",
    )


def test_a_secret_is_found_inside_json_text_and_in_addresses() -> None:
    redactor = Redactor({"KEY": 'a"b/c d+e'})
    assert redactor.text(json.dumps({"k": 'a"b/c d+e'})) == '{"k": "[secret KEY]"}'
    assert redactor.text("http://h/?k=a%22b%2Fc%20d%2Be") == "http://h/?k=[secret KEY]"


def test_of_two_secrets_the_longer_one_is_found_first() -> None:
    redactor = Redactor({"A": "secret", "B": "secret-longer"})
    assert redactor.text("secret-longer secret") == "[secret B] [secret A]"


def test_descriptions_of_tools_are_without_secrets_too() -> None:
    tool = ToolDescription("t", "uses s3cret-value", {"title": "s3cret-value"}, None)
    assert "s3cret" not in str(Redactor({"TOKEN": "s3cret-value"}).description(tool))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["x", "very-secret", "a very-secret"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(value=JSON)
def test_no_shape_of_data_hides_a_secret_and_nothing_else_changes(value: object) -> None:
    found = Redactor({"TOKEN": "very-secret"}).value(value)
    assert json.dumps(found) == json.dumps(value).replace("very-secret", "[secret TOKEN]")
