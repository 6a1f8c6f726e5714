"""What the members of a tool mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.agents.files.form import Form


def _fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": raw["name"],
        "kind": raw.get("tool_type") or "",
        "description": raw.get("description") or "",
        "json_schema": raw.get("json_schema"),
    }


def _members(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": tool["name"],
        "tool_type": tool["kind"] or None,
        "description": tool["description"] or None,
        "json_schema": tool["json_schema"],
    }


TOOL = Form(
    names=frozenset({"name", "kind", "description", "json_schema"}),
    reads=frozenset({"name", "tool_type", "description", "json_schema"}),
    fields=_fields,
    members=_members,
)
