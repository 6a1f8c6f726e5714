"""A tool's failure as the model sees it and as a task reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dcf.agents.assignment import JSON
from dcf.agents.task_error import TOOL_ERROR

if TYPE_CHECKING:
    from dcf.tools import ToolResult


def error_envelope(result: ToolResult) -> dict[str, JSON]:
    """``{"status": "error", "error": {"code", "message"}}`` for a result with ``is_error``.

    ``code`` is the error name a task fails with. ``message`` is the tool's own ``message`` or
    ``cause`` if its data has one, else its text.
    """
    return envelope_of(result.error or TOOL_ERROR, _message(result))


def envelope_of(code: str, message: str) -> dict[str, JSON]:
    """``{"status": "error", "error": {"code", "message"}}``."""
    return {"status": "error", "error": {"code": code, "message": message}}


def _message(result: ToolResult) -> str:
    if isinstance(result.data, Mapping):
        for member in ("message", "cause"):
            said = result.data.get(member)
            if isinstance(said, str) and said:
                return said
    return result.text or "the tool reported an error without a message"
