"""Results that are too large to be carried about: they are kept, and a reference goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from dcf.tools.errors import ToolResultTooLarge
from dcf.tools.result import JSON, ToolResult

Keep = Callable[[bytes], Awaitable[str]]
"""Stores the JSON text (UTF-8) of a result's data and gives the reference it is found by."""

MESSAGE_BYTES = 16 * 1024 * 1024
"""What is read of one answer at all, as it comes over the wire."""

_PREVIEW = 1_000


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """In bytes of JSON: up to ``inline_bytes`` a result is handed on as it is, up to ``hard_bytes``
    it may be kept and referred to."""

    inline_bytes: int = 256 * 1024
    hard_bytes: int = MESSAGE_BYTES


USUAL_LIMITS = ResultLimits()


async def limited(
    result: ToolResult, limits: ResultLimits, keep: Keep | None, server: str, tool: str
) -> ToolResult:
    """The result itself, or with its data replaced by
    ``{"$ref": reference, "size": bytes, "digest": "sha256:…", "preview": text}`` and its text by
    the preview, the first 1,000 characters.

    Raises ``ToolResultTooLarge`` over the hard limit, and where nobody keeps large results.
    """
    content = _content(result.data)
    size = max(len(content), len(result.text.encode(errors="replace")))
    if size <= limits.inline_bytes:
        return result
    if size > limits.hard_bytes or keep is None:
        limit = limits.inline_bytes if keep is None else limits.hard_bytes
        raise ToolResultTooLarge(server, tool, size, limit)
    preview = result.text[:_PREVIEW]
    if len(content) <= limits.inline_bytes:
        return replace(result, text=preview)
    reference: JSON = {
        "$ref": await keep(content),
        "size": len(content),
        "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "preview": preview,
    }
    return replace(result, data=reference, text=preview)


def _content(data: JSON) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair: only escaped can it be written
        return json.dumps(data, separators=(",", ":")).encode()
