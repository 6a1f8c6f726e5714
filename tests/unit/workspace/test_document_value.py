"""Values are JSON, or what a model writes when it means JSON."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.workspace.document_value import MAX_BYTES, MAX_DEPTH, read_number, read_value
from dcf.workspace.errors import WorkspaceError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


@given(VALUES)
def test_json_is_read_as_json(value: Any) -> None:
    assert read_value(json.dumps(value), "value").value == value


@given(VALUES)
def test_a_fence_around_it_and_python_spelling_change_nothing(value: Any) -> None:
    assert read_value(f"```json\n{json.dumps(value)}\n```", "value").value == value
    assert read_value(repr(value), "value").value == value


@pytest.mark.parametrize(
    "text, value",
    [
        ("{'a': (1, 2), 'b': None, 'c': True}", {"a": [1, 2], "b": None, "c": True}),
        ("1_000", 1000), ("```\n[1]\n```", [1]), ("  ```python\n{'a': 1}\n```  ", {"a": 1}),
        ('"text"', "text"), ("'text'", "text"), ("-1.5e3", -1500.0), ("null", None),
    ],
)  # fmt: skip
def test_what_models_write_is_understood(text: str, value: Any) -> None:
    assert read_value(text, "value").value == value


@pytest.mark.parametrize(
    "text",
    [
        "NaN", "Infinity", "-Infinity", "1e999", "[NaN]", "{1: 2}", "{'a': {1, 2}}", "b'x'",
        "1+2j", "...", "__import__('os').system('true')", "open('/etc/passwd')", "[x for x in 'a']",
        "lambda: 1", "f'{1}'", "{", "hello", "", "1 2", '"\\ud800"', "'\\ud800'", "9" * 5000,
        "(" * 5000, "[" * 100_000, "-" * 60_000 + "1", "[" * 65 + "]" * 65, "'" + "a" * 70_000,
    ],
    ids=lambda text: ascii(text)[:24],
)  # fmt: skip
def test_what_is_no_value_is_refused_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(WorkspaceError):
        read_value(text, "value")
    assert time.process_time() - start < 2


def test_a_word_stands_for_itself_where_that_is_allowed() -> None:
    read = read_value("completed", "value", or_text=True)
    assert (read.value, read.as_text) == ("completed", True)
    assert read_value("", "value", or_text=True).value is None
    assert not read_value('"completed"', "value", or_text=True).as_text


def test_limits_are_those_that_are_said() -> None:
    assert read_value("[" * MAX_DEPTH + "]" * MAX_DEPTH, "value").value is not None
    assert read_value('"' + "a" * (MAX_BYTES - 2) + '"', "value").value
    with pytest.raises(WorkspaceError, match="bytes"):
        read_value('"' + "ä" * (MAX_BYTES // 2) + '"', "value")


@pytest.mark.parametrize("text, number", [("2", 2), (" -3 ", -3), ("2.0", 2.0), ("1e3", 1000.0)])
def test_numbers_keep_their_kind(text: str, number: float) -> None:
    assert read_number(text, "delta") == number
    assert type(read_number(text, "delta")) is type(number)


@pytest.mark.parametrize("text", ["true", "null", '"1"', "[1]", "nan", "inf", "1e999", "one", ""])
def test_what_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(WorkspaceError):
        read_number(text, "delta")
