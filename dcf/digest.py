"""One byte form for every JSON value, and the digests taken of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(data: bytes) -> str:
    """``sha256:`` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def text_digest(text: bytes) -> str:
    """The digest of a text with lines that end in LF, the same for a checkout with CRLF."""
    return digest(text.replace(b"\r\n", b"\n"))


def canonical_json(value: Any) -> bytes:
    """The shortest text with sorted keys, in UTF-8: what digests are taken of."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def file_json(value: Any) -> bytes:
    """The same value for a file: sorted keys, two blanks of indentation, a newline at the end."""
    text = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def tool_digest(input_schema: Mapping[str, Any], output_schema: Mapping[str, Any] | None) -> str:
    """By which a tool's schemas are known again: of ``{"inputSchema", "outputSchema"}``, the latter
    null where a server announces none."""
    return digest(canonical_json({"inputSchema": input_schema, "outputSchema": output_schema}))
