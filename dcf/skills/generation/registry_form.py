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
            server_id: {**_DEFAULTS, **_server(server)}
            for server_id, server in authored["servers"].items()
        },
    }
    if "allowStdio" in authored:
        document["allowStdio"] = authored["allowStdio"]
    if "overrides" in authored:
        document["overrides"] = {
            env: {server_id: _server(partial) for server_id, partial in servers.items()}
            for env, servers in authored["overrides"].items()
        }
    return document


def _server(authored: dict[str, Any]) -> dict[str, Any]:
    """``http`` is another word for ``streamable_http``."""
    if authored.get("transport") == "http":
        return {**authored, "transport": "streamable_http"}
    return authored
