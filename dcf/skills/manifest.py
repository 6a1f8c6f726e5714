"""A skill as it is loaded: directives, tools with their schemas, permissions, data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.digest import canonical_json, digest
from dcf.problem import Problem
from dcf.skills.authoring.place import Document
from dcf.skills.authoring.shape import check_shape
from dcf.skills.errors import InvalidManifest


@dataclass(frozen=True, slots=True)
class SkillTool:
    """A tool that a skill may call. ``tool_name`` is its name on the server ``server_id``, ``name``
    the one that agents see, ``input_schema`` the JSON Schema of the arguments. ``description`` is
    the tool's own; the skill's note on it stands in the manifest. ``idempotent``: its author says
    that a repeated call does nothing more."""

    server_id: str
    tool_name: str
    name: str
    description: str
    required: bool
    input_schema: dict[str, Any] = field(hash=False)
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class Permissions:
    """``egress`` none, intranet or internet; ``risk_level`` low, medium or high; ``secrets`` by
    name, never by value; ``files`` are files and folders, relative to the project's, of which an
    agent may be told what they say; ``commands`` are the programs that it may run."""

    egress: str = "none"
    secrets: tuple[str, ...] = ()
    risk_level: str = "low"
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DataSource:
    """A text the skill brings along, for ``archival_memory`` or ``working_memory``."""

    id: str
    destination: str
    text: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of a skill. ``raw`` is the document; ``digest`` is taken of its canonical JSON
    (sorted keys, no blanks, UTF-8) as ``sha256:…``."""

    manifest_id: str
    name: str
    version: str
    description: str
    directives: str
    tags: tuple[str, ...]
    permissions: Permissions
    tools: tuple[SkillTool, ...]
    data_sources: tuple[DataSource, ...]
    dependencies: tuple[str, ...]
    package_id: str | None
    digest: str
    raw: dict[str, Any] = field(repr=False, hash=False)

    @classmethod
    def from_document(cls, document: Mapping[str, Any], source: str = "the manifest") -> Manifest:
        """Read a manifest document; raises ``InvalidManifest`` with all problems."""
        problems = validate_manifest(document)
        if problems:
            raise InvalidManifest(source, problems)
        return cls(
            manifest_id=document["manifestId"],
            name=document["skillName"],
            version=document["skillVersion"],
            description=document.get("description", ""),
            directives=document["skillDirectives"],
            tags=tuple(document.get("tags", ())),
            permissions=_permissions(document.get("permissions", {})),
            tools=tuple(_tool(entry) for entry in document.get("requiredTools", ())),
            data_sources=tuple(_data(entry) for entry in document.get("requiredDataSources", ())),
            dependencies=tuple(document.get("dependencies", ())),
            package_id=document["skillPackageId"],
            digest=digest(canonical_json(document)),
            raw=dict(document),
        )

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every exact way to name this version."""
        own = f"{self.name}@{self.version}"
        names = [self.manifest_id, own, f"skill://{own}", f"skill://{self.manifest_id}"]
        if self.package_id:
            names.append(f"skill://{self.package_id}@{self.version}")
        return tuple(dict.fromkeys(names))


def validate_manifest(document: Mapping[str, Any]) -> list[Problem]:
    """Everything that is wrong with a manifest document; ``[]`` when it can be loaded.

    Tools must be reached through a server of the registry (``definition.serverId``): source code
    and bare addresses in manifests are not run.
    """
    place = Document("", dict(document), {}).root
    problems = check_shape(place, "manifest", "SKILL_MANIFEST")
    names: set[str] = set()
    tools = place.member("requiredTools")
    for tool in tools.elements() if tools else ():
        definition, name = tool.member("definition"), tool.text("toolName")
        if definition and isinstance(definition.value, dict) and "serverId" not in definition.value:
            message = "only tools of a registered MCP server can be called"
            hint = "write {type: mcp_server, serverId, toolName}"
            problems.append(definition.problem("SKILL_MANIFEST_TOOL_KIND", message, hint))
        if name and name.lower() in names:
            message = f"two tools are called {name!r}"
            problems.append(
                tool.problem(
                    "SKILL_MANIFEST_TOOL_TWICE", message, hint="give each tool a name of its own"
                )
            )
        names.add((name or "").lower())
    return [Problem(p.code, p.message, p.path, p.hint, p.severity) for p in problems]


def _permissions(document: Mapping[str, Any]) -> Permissions:
    return Permissions(
        egress=document.get("egress", "none"),
        secrets=tuple(document.get("secrets", ())),
        risk_level=document.get("riskLevel", "low"),
        files=tuple(document.get("files", ())),
        commands=tuple(document.get("commands", ())),
    )


def _tool(entry: Mapping[str, Any]) -> SkillTool:
    schema = entry.get("json_schema") or {}
    return SkillTool(
        server_id=entry["definition"]["serverId"],
        tool_name=entry["definition"]["toolName"],
        name=entry["toolName"],
        description=schema.get("description") or entry["description"],
        required=entry.get("required", True),
        input_schema=schema.get("parameters", {"type": "object", "properties": {}}),
        idempotent=entry.get("idempotent", False),
    )


def _data(entry: Mapping[str, Any]) -> DataSource:
    return DataSource(
        id=entry["dataSourceId"],
        destination=entry["destination"],
        text=entry["content"]["text"],
        description=entry.get("description", ""),
    )
