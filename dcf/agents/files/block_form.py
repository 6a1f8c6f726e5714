"""What the members of a block mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dcf.agents.files.form import OWN, Form
from dcf.memory import NewBlock

UNLIMITED = 100_000_000
"""The limit of a block that has none: a file cannot say that."""


def _fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    metadata = raw.get("metadata") or {}
    value, limit = raw.get("value") or "", raw.get("limit")
    return {
        "label": raw["label"],
        "value": value,
        "description": raw.get("description") or "",
        "type": "global",
        "soft_limit": None,
        "hard_limit": limit,
        # A block that is over its own limit comes in whole: nothing is cut and nothing refused.
        "on_limit": "warn" if limit is not None and len(value.encode()) > limit else "reject",
        "read_only": bool(raw.get("read_only")),
        "project": None,
        "metadata": {name: item for name, item in metadata.items() if name != OWN},
    }


def _members(block: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "label": block["label"],
        "value": block["value"],
        "description": block["description"] or None,
        "limit": UNLIMITED if block["hard_limit"] is None else block["hard_limit"],
        "read_only": block["read_only"],
        "metadata": dict(block["metadata"]),
    }


BLOCK = Form(
    names=frozenset(field.name for field in fields(NewBlock)) - {"provenance"},
    reads=frozenset({"label", "value", "description", "limit", "read_only", "metadata"}),
    fields=_fields,
    members=_members,
    home="metadata",
)
