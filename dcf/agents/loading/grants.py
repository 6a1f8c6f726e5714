"""From manifests to what the gate asks for: the one place where skills become permissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from dcf.skills import Manifest
from dcf.tools import Egress, Grant, Risk

JSON = Any


def grants_of(manifests: Iterable[Manifest], *, trusted: bool = True) -> list[Grant]:
    """What ``manifests`` let an agent call: a grant for each tool of each."""
    return [
        Grant(
            server_id=tool.server_id,
            tool_name=tool.tool_name,
            skill=manifest.manifest_id,
            input_schema=tool.input_schema,
            egress=cast("Egress", manifest.permissions.egress),
            secrets=manifest.permissions.secrets,
            risk=cast("Risk", manifest.permissions.risk_level),
            idempotent=tool.idempotent,
            commands=manifest.permissions.commands,
            trusted=trusted,
        )
        for manifest in manifests
        for tool in manifest.tools
    ]


def tool_id(grant: Grant) -> str:
    """``serverId:toolName``."""
    return f"{grant.server_id}:{grant.tool_name}"


def grant_document(grant: Grant) -> dict[str, JSON]:
    """What a record keeps of a grant beside server, tool and skill."""
    return {
        "input_schema": dict(grant.input_schema),
        "egress": grant.egress,
        "secrets": list(grant.secrets),
        "risk": grant.risk,
        "idempotent": grant.idempotent,
        "commands": list(grant.commands),
        "trusted": grant.trusted,
    }


def recorded_grants(tools: Mapping[str, JSON]) -> list[Grant]:
    """The grants behind the ``tools`` of an agent's record."""
    return [
        Grant(
            server_id=tool["server_id"],
            tool_name=tool["tool_name"],
            skill=skill,
            input_schema=held["input_schema"],
            egress=held["egress"],
            secrets=tuple(held["secrets"]),
            risk=held["risk"],
            idempotent=held["idempotent"],
            commands=tuple(held.get("commands", ())),
            # What was loaded before this was kept came from anywhere.
            trusted=held.get("trusted", False),
        )
        for _, tool in sorted(tools.items())
        for skill, held in sorted(tool["holders"].items())
    ]
