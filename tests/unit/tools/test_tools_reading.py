"""How an MCP result becomes data."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent, TextContent

from dcf.tools.reading import read_result

WRAPPER = {"type": "object", "properties": {"result": {"type": "array"}}, "required": ["result"]}


def result(*texts: str, structured: Any = None, is_error: bool = False) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=text) for text in texts],
        structured_content=structured,
        is_error=is_error,
    )


def test_structured_content_goes_before_text() -> None:
    assert read_result(result("other", structured={"a": 1}), None).data == {"a": 1}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"a": [1, true]}', {"a": [1, True]}),
        ("7", 7),
        ("null", None),
        ("plain words", "plain words"),
        ("NaN", "NaN"),
        ("", ""),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_text_is_read_as_json_where_it_is_json(text: str, data: Any) -> None:
    assert read_result(result(text), None).data == data


def test_a_value_that_the_server_had_to_wrap_is_unwrapped() -> None:
    wrapped = result("1", "2", structured={"result": [1, 2]})
    assert read_result(wrapped, WRAPPER).data == [1, 2]
    assert read_result(result(structured={"result": []}), WRAPPER).data == []


def test_an_object_that_has_a_result_of_its_own_is_left_alone() -> None:
    own = result('{"result": [1]}', structured={"result": [1]})
    assert read_result(own, WRAPPER).data == {"result": [1]}
    assert read_result(result("x", structured={"result": [1]}), None).data == {"result": [1]}
    wide = {"type": "object", "properties": {"result": {}, "next": {}}}
    assert read_result(result("x", structured={"result": [1]}), wide).data == {"result": [1]}


def test_content_that_is_not_text_is_kept_as_blocks() -> None:
    image = ImageContent(data="aGk=", mime_type="image/png")
    data = read_result(CallToolResult(content=[image]), None).data
    assert data[0]["type"] == "image"
    assert data[0]["data"] == "aGk="


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"code": "NotFound", "error": "x"}, "NotFound"),
        ({"error": "Busy"}, "Busy"),
        ({"code": 404}, "DCF.ToolError"),
        ({"message": "?"}, "DCF.ToolError"),
    ],
)
def test_a_tool_names_its_own_error(data: Any, name: str) -> None:
    read = read_result(result("x", structured=data, is_error=True), None)
    assert (read.is_error, read.error, read.data) == (True, name, data)


def test_an_error_told_in_words_has_our_name() -> None:
    read = read_result(result("it broke", is_error=True), None)
    assert (read.data, read.text, read.error) == ("it broke", "it broke", "DCF.ToolError")


def test_a_good_answer_has_no_error_name() -> None:
    assert read_result(result(structured={"code": "A"}), None).error is None
