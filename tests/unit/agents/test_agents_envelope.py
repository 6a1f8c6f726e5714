"""What a model sees of a tool's failure."""

from __future__ import annotations

from typing import Any

import pytest

from dcf.agents.envelope import error_envelope
from dcf.tools import ToolResult


@pytest.mark.parametrize(
    ("data", "text", "message"),
    [
        ({"code": "E", "message": "slow down"}, "{…}", "slow down"),
        ({"code": "E", "cause": "disk full"}, "{…}", "disk full"),
        ({"code": "E", "message": 5}, "{…}", "{…}"),
        ("plain words", "plain words", "plain words"),
        (None, "", "the tool reported an error without a message"),
    ],
)
def test_the_message_is_the_tools_own_or_its_text(data: Any, text: str, message: str) -> None:
    result = ToolResult(data=data, text=text, is_error=True, error="E")
    assert error_envelope(result) == {"status": "error", "error": {"code": "E", "message": message}}


def test_an_unnamed_error_is_a_tool_error() -> None:
    result = ToolResult(data=None, text="broken", is_error=True, error=None)
    assert error_envelope(result)["error"]["code"] == "DCF.ToolError"
