"""``--input`` takes a file, JSON, or standard input, and finds out which."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.cli.input_source import read_file, read_input
from dcf.problem import Problem

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(json_values)
def test_json_on_the_command_line_is_itself(value: Any) -> None:
    assert read_input(json.dumps(value)).value == value


def test_without_input_it_is_an_empty_object() -> None:
    assert read_input(None).value == {}


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text('{"a": 1}')

    assert read_input(str(file)).value == {"a": 1}


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_bytes(b"\xef\xbb\xbf[1]")

    assert read_input(str(file)).value == [1]


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("[1, 2]"))

    assert read_input("-").value == [1, 2]


def test_what_is_neither_is_a_problem_with_the_choices() -> None:
    [problem] = read_input("ordr.jsn").problems

    assert problem.file == "ordr.jsn"
    assert "standard input" in problem.hint


def test_malformed_json_is_placed() -> None:
    [problem] = read_input('{"a": }').problems

    assert (problem.file, problem.line, problem.column) == ("--input", 1, 7)


def test_problems_about_the_value_are_placed_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text('{\n  "a": 1,\n  "b": 2\n}')
    found = read_input(str(file))

    [placed] = found.place([Problem("X", "b is wrong", "/b")])

    assert (placed.file, placed.line) == (str(file), 3)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device: str) -> None:
    [problem] = read_input(device).problems

    assert "a device" in problem.message


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    _, problem = read_file(tmp_path / "pipe")

    assert problem is not None
    assert "a pipe" in problem.message


def test_what_is_too_large_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcf.cli.input_source.MAX_FILE", 10)
    file = tmp_path / "in.json"
    file.write_text("[1, 2, 3, 4]")
    monkeypatch.setattr("sys.stdin", io.StringIO("[1, 2, 3, 4]"))

    for given_as in (str(file), "-"):
        [problem] = read_input(given_as).problems
        assert "larger than" in problem.message


def test_standard_input_that_is_no_text_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)

    [problem] = read_input("-").problems

    assert problem.file == "stdin"
