"""From what MCP returns to a ``ToolResult``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from dcf.tools.document import pointer
from dcf.tools.errors import ToolsError
from dcf.tools.result import JSON, ToolResult

if TYPE_CHECKING:
    from mcp_types import CallToolResult


def read_result(result: CallToolResult, output_schema: Mapping[str, Any] | None) -> ToolResult:
    """The result of a call that the server answered, well or with an error."""
    texts = [block.text for block in result.content if block.type == "text"]
    text = "\n".join(texts)
    if result.structured_content is not None:
        data = _unwrapped(result.structured_content, text, output_schema)
    elif len(texts) < len(result.content):
        data = [block.model_dump(mode="json", exclude_none=True) for block in result.content]
    else:
        data = _parsed(text)
    if result.is_error:
        return ToolResult(data, text, True, error_name(data))
    return ToolResult(data, text)


def answer_fault(result: CallToolResult, output_schema: Mapping[str, Any] | None) -> str:
    """Why a result breaks the schema that its server announces for it; empty when it does not.

    A schema that cannot be used, or takes too long, is not fitted; nothing is fetched for it.
    """
    if output_schema is None:
        return ""
    if result.structured_content is None and "structured_content" not in result.model_fields_set:
        return "has an output schema but did not return structured content"
    from dcf.schema import SchemaUnusable, schema_of

    try:
        fault = schema_of(output_schema).fault(result.structured_content)
    except SchemaUnusable as unusable:
        return f"has an output schema that cannot be used: {unusable}"
    if fault is None:
        return ""
    place = pointer(fault.absolute_path) or "/"
    return f"returned structured content that does not fit its schema: {place}: {fault.message}"


def failed_result(message: str, **data: JSON) -> ToolResult:
    """The result of a call that the server, or the protocol, rejected."""
    told = {"message": message, **data}
    return ToolResult(told, message, True, error_name(told))


def error_name(data: JSON) -> str:
    """The name a Task fails with: the tool's own ``code`` or ``error``, else ours."""
    if isinstance(data, Mapping):
        for member in ("code", "error"):
            name = data.get(member)
            if isinstance(name, str) and name:
                return name
    return ToolsError.code


def _unwrapped(structured: JSON, text: str, output_schema: Mapping[str, Any] | None) -> JSON:
    """``x`` for ``{"result": x}`` where the server made an object of something that was none.

    Servers built with the Python SDK do that for results that are not objects: the schema then
    has the one property ``result``, and the text is that of ``x`` alone. An object that really is
    ``{"result": x}`` has it in its text too.
    """
    properties = (output_schema or {}).get("properties")
    if not isinstance(properties, Mapping) or set(properties) != {"result"}:
        return structured
    if not isinstance(structured, Mapping) or set(structured) != {"result"}:
        return structured
    return structured if _parsed(text) == structured else structured["result"]


def _parsed(text: str) -> JSON:
    """The text read as JSON, or the text."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
