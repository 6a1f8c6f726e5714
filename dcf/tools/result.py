"""What a tool answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

JSON: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call.

    ``data`` is the structured content, else the text read as JSON, else the text. ``text`` is
    what a model would read. ``error`` is the name a Task fails with when ``is_error``: the string
    ``code`` (or ``error``) of ``data`` when the tool gave one, else ``DCF.ToolError``.
    """

    data: JSON
    text: str
    is_error: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ToolDescription:
    """One tool as its server lists it; both schemas are JSON Schema objects."""

    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
