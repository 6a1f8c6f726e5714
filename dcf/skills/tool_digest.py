"""The digest by which a tool's schema is recognised."""

from __future__ import annotations

from typing import Any

from dcf.skills.canonical import canonical_json, digest


def tool_digest(input_schema: dict[str, Any], output_schema: dict[str, Any] | None) -> str:
    """``sha256:…`` of the canonical JSON of ``{"inputSchema", "outputSchema"}``; the latter is
    null where a server announces none."""
    return digest(canonical_json({"inputSchema": input_schema, "outputSchema": output_schema}))
