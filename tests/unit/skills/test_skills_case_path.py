"""Paths of stub cases: what is a path, which JSONPath it becomes, what the schema says of it."""

from __future__ import annotations

import jsonpath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.skills.authoring.case_path import CasePath, parse_case_path


@pytest.mark.parametrize(
    ("path", "expr"),
    [
        ("order_id", "$.order_id"),
        ("$.order_id", "$.order_id"),
        ("address.country", "$.address.country"),
        ("items[0].sku", "$.items[0].sku"),
        ("items[*].sku", "$.items[*].sku"),
        ("[0][*]", "$[0][*]"),
        ("time-zone", "$['time-zone']"),
        ("a['b c'].d", "$.a['b c'].d"),
    ],
)
def test_a_path_becomes_a_jsonpath(path: str, expr: str):
    parsed = parse_case_path(path)
    assert parsed is not None
    assert parsed.expr == expr
    jsonpath.compile(parsed.expr)


@pytest.mark.parametrize(
    "path",
    ["", "$", ".", "a..b", "a.", "a[", "a[]", "a[-1]", "a[0", "a b", "a[0]b", "a.[0]", "$$.a"],
)
def test_what_is_no_path(path: str):
    assert parse_case_path(path) is None


STEPS = st.lists(
    st.integers(0, 999)
    | st.none()
    | st.from_regex(r"[A-Za-z_][A-Za-z0-9_ -]{0,6}", fullmatch=True),
    min_size=1,
    max_size=5,
)


@given(STEPS)
def test_a_written_path_reads_back_as_itself(steps: list[str | int | None]):
    path = CasePath(tuple(steps))
    assert parse_case_path(path.expr) == path


@given(st.text(max_size=20))
def test_any_text_is_a_path_or_not(text: str):
    parsed = parse_case_path(text)
    assert parsed is None or jsonpath.compile(parsed.expr)


def test_the_schema_is_followed_as_far_as_it_speaks():
    schema = {
        "properties": {
            "items": {"items": {"properties": {"sku": {"type": "string"}}}},
            "free": {"type": "object"},
        }
    }

    def said(path: str) -> dict[str, object] | None:
        parsed = parse_case_path(path)
        assert parsed is not None
        return parsed.schema_in(schema)

    assert said("items[0].sku") == {"type": "string"}
    assert said("free.anything") == {}
    assert said("items[0].price") is None
    assert said("other") is None
