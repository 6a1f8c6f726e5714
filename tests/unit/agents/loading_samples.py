"""Skills to load, an agent to load them into, and backends that fail on purpose."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from control_plane import AgentStore
from control_plane.script import Script
from control_plane.twin import Twin
from dcf.agents.loading import SkillLibrary
from dcf.skills import Manifest, SkillCatalog

AGENT = "agent-1"


def manifest(
    name: str,
    *tools: str,
    version: str = "1.0.0",
    data: dict[str, str] | None = None,
    needs: Sequence[str] = (),
    directives: str = "Do it.",
    optional: Sequence[str] = (),
    **permissions: Any,
) -> Manifest:
    """A skill with tools written ``server:tool``."""
    return Manifest.from_document(
        {
            "manifestApiVersion": "v2.1.0",
            "skillPackageId": None,
            "manifestId": f"skill.{name}@{version}",
            "skillName": name,
            "skillVersion": version,
            "skillDirectives": directives,
            "permissions": permissions,
            "dependencies": list(needs),
            "requiredTools": [_tool(tool, tool not in optional) for tool in tools],
            "requiredDataSources": [
                {
                    "dataSourceId": source,
                    "destination": "archival_memory",
                    "content": {"type": "text_content", "text": text},
                }
                for source, text in (data or {}).items()
            ],
        }
    )


def _tool(tool: str, required: bool) -> dict[str, Any]:
    server, _, name = tool.partition(":")
    return {
        "toolName": name,
        "description": f"Does {name}.",
        "definition": {"type": "mcp_server", "serverId": server, "toolName": name},
        "json_schema": {
            "name": name,
            "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}},
        },
        "required": required,
    }


def library(*manifests: Manifest, **options: Any) -> SkillLibrary:
    return SkillLibrary(SkillCatalog(manifests), **options)


class Time:
    """Moves when told to."""

    def __init__(self) -> None:
        self.ms = 1_790_000_000_000

    def __call__(self) -> int:
        return self.ms * 1000


def twin_store(time: Time | None = None) -> AgentStore:
    """Agents on a twin; ids are numbered."""
    ids = itertools.count(1)
    return AgentStore(Twin(time or Time(), strict_keys=False), tokens=lambda: f"{next(ids):032x}")


class Struck(Exception):
    """The process died here."""


class Mortal:
    """A backend whose user dies at the ``nth`` call: before it reached the server, or after it did
    and before the answer was heard."""

    def __init__(self, inner: Any, nth: int, *, after: bool) -> None:
        self._inner, self._nth, self._after = inner, nth, after
        self.calls = 0

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return await self._strike(lambda: self._inner.run(script, keys, args))

    async def command(self, *args: str | int) -> Any:
        return await self._strike(lambda: self._inner.command(*args))

    async def close(self) -> None: ...

    async def _strike(self, call: Any) -> Any:
        self.calls += 1
        if self.calls != self._nth:
            return await call()
        if self._after:
            await call()
        raise Struck
