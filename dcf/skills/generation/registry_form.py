"""From registry.yaml to the generated registry (schemas/registry.schema.json)."""

from __future__ import annotations

from typing import Any

from dcf.skills.authoring.place import Place

_DEFAULTS = {"transport": "streamable_http", "endpoint": "", "path": "/mcp"}


def registry_document(registry: Place) -> dict[str, Any]:
    """Servers with defaults filled in; variables and overrides stay for the reader to apply."""
    authored = registry.value
    document: dict[str, Any] = {
        "env": authored.get("env", "test"),
        "servers": {
            server_id: {**_DEFAULTS, **server} for server_id, server in authored["servers"].items()
        },
    }
    for name in ("allowStdio", "overrides"):
        if name in authored:
            document[name] = authored[name]
    return document
