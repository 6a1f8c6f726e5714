"""What is looked at before a skill is loaded: its secrets, and its tools on their servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dcf.problem import Problem, Severity
from dcf.skills import Manifest, SkillTool
from dcf.tools import Toolbox, ToolsError, Untrusted


@dataclass(frozen=True, slots=True)
class LoadChecks:
    """Which checks are made. Secrets are looked for in ``environment``, that of the process that
    connects to tool servers; None looks for none. Tools are asked for through ``toolbox``; None
    asks no server. ``untrusted`` is what the policy says of skills that the catalog does not have
    like this."""

    environment: Mapping[str, str] | None = None
    secrets: Literal["warn", "refuse"] = "warn"
    toolbox: Toolbox | None = None
    untrusted: Untrusted = "ask"

    async def problems(
        self, manifests: Sequence[Manifest], untrusted: Sequence[str] = ()
    ) -> list[Problem]:
        """Everything found, errors and warnings. ``untrusted`` are the manifestIds of those that
        are not trusted."""
        found = [self._untrusted(name) for name in untrusted]
        if self.environment is not None:
            found += self._secrets(manifests, self.environment)
        if self.toolbox is not None:
            found += await _missing_tools(manifests, self.toolbox)
        return found

    def _untrusted(self, manifest_id: str) -> Problem:
        hint = "put it among the sources and generate, or load the catalog's by its name"
        message = f"{manifest_id} is untrusted: the catalog does not have it like this"
        if self.untrusted == "refuse":
            message = f"{message}, and the policy refuses such skills"
            return Problem("SKILL_LOAD_UNTRUSTED", message, hint=hint)
        if self.untrusted == "ask":
            message = f"{message}; its calls count as high risk"
        return Problem("SKILL_LOAD_UNTRUSTED", message, hint=hint, severity="warning")

    def _secrets(
        self, manifests: Iterable[Manifest], environment: Mapping[str, str]
    ) -> list[Problem]:
        severity: Severity = "error" if self.secrets == "refuse" else "warning"
        return [
            Problem(
                "SKILL_LOAD_SECRET",
                f"{manifest.manifest_id} needs the secret {name}, which is not set",
                "/permissions/secrets",
                f"set {name} in the environment of the process that connects to its tools",
                severity,
            )
            for manifest in manifests
            for name in manifest.permissions.secrets
            if not environment.get(name)
        ]


async def _missing_tools(manifests: Sequence[Manifest], toolbox: Toolbox) -> list[Problem]:
    """Tools that their servers do not list; each server is asked once."""
    tools = [(manifest, tool) for manifest in manifests for tool in manifest.tools]
    servers = sorted({tool.server_id for _, tool in tools})
    answers = await asyncio.gather(*(_listed(toolbox, server) for server in servers))
    listed = dict(zip(servers, answers, strict=True))
    return [
        _missing(manifest, tool, _why(tool, listed[tool.server_id]))
        for manifest, tool in tools
        if _why(tool, listed[tool.server_id])
    ]


async def _listed(toolbox: Toolbox, server_id: str) -> set[str] | str:
    """The names of a server's tools, or why it cannot be asked."""
    try:
        return {tool.name for tool in await toolbox.list_tools(server_id)}
    except ToolsError as error:
        return str(error)


def _why(tool: SkillTool, listed: set[str] | str) -> str:
    if isinstance(listed, str):
        return listed
    return "" if tool.tool_name in listed else "the server does not have it"


def _missing(manifest: Manifest, tool: SkillTool, why: str) -> Problem:
    return Problem(
        "SKILL_LOAD_TOOL_MISSING",
        f"{manifest.manifest_id} uses {tool.server_id}:{tool.tool_name}: {why}",
        "/requiredTools",
        "start the server, or mark the tool as required: false",
        "error" if tool.required else "warning",
    )
