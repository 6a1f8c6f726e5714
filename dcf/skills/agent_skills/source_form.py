"""A skill read from a folder as sources: the skill file, its data files, the tools it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dcf.skills.agent_skills.export import data_paths
from dcf.skills.agent_skills.folder import SkillFolder, as_data
from dcf.skills.agent_skills.tool_files import Authored, tools_document
from dcf.skills.agent_skills.yaml_text import yaml_text
from dcf.skills.manifest import Manifest


def source_place(name: str) -> tuple[str, str]:
    """Folder and stem of the source of skill ``name``: as ``dcf skills new`` has them, skills
    without a domain in ``skills/imported``."""
    domain, _, rest = name.partition(".")
    return (f"skills/{domain}", rest) if rest else ("skills/imported", domain)


def skill_source(
    manifest: Manifest, stem: str, folder: SkillFolder, tests: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The document of the ``*.skill.yaml``, and the files of its data sources below its folder."""
    files: dict[str, bytes] = {}
    rights = manifest.permissions
    spec: dict[str, Any] = {
        "permissions": {
            "egress": rights.egress,
            "secrets": list(rights.secrets),
            "riskLevel": rights.risk_level,
            **({"files": list(rights.files)} if rights.files else {}),
        },
        "directives": manifest.directives,
        "tools": [_tool(entry) for entry in manifest.raw.get("requiredTools", ())],
    }
    sources = list(_data_sources(manifest, stem, folder, files))
    if sources:
        spec["dataSources"] = sources
    for member in ("dependencies", "complexityProfile"):
        if member in manifest.raw:
            spec[member] = manifest.raw[member]
    if tests:
        spec["tests"] = list(tests)
    metadata = {
        "manifestId": manifest.manifest_id,
        "name": manifest.name,
        "version": manifest.version,
        "description": manifest.description,
        "tags": list(manifest.tags),
    }
    document = {"apiVersion": "skill/v1", "kind": "Skill", "metadata": metadata, "spec": spec}
    return document, files


def _tool(entry: Mapping[str, Any]) -> dict[str, Any]:
    definition = entry["definition"]
    tool: dict[str, Any] = {"ref": f"{definition['serverId']}:{definition['toolName']}"}
    own = (entry.get("json_schema") or {}).get("description")
    if entry["description"] != own:
        tool["description"] = entry["description"]
    if entry.get("required", True) is False:
        tool["required"] = False
    return tool


def _data_sources(
    manifest: Manifest, stem: str, folder: SkillFolder, files: dict[str, bytes]
) -> Iterator[dict[str, Any]]:
    paths = data_paths(manifest)
    for source in manifest.data_sources:
        document: dict[str, Any] = {"id": source.id}
        if source.description:
            document["description"] = source.description
        document["destination"] = source.destination
        path = paths.get(source.id)
        if path is not None and as_data(folder.files.get(path)) == source.text:
            files[f"{stem}/{path}"] = source.text.encode()
            document["file"] = f"{stem}/{path}"
        else:
            document["text"] = source.text
        yield document


def tools_source(server_id: str, entries: Sequence[Mapping[str, Any]], authored: Authored) -> str:
    """A tools file for tools that a manifest needs and a tree does not have yet: as they came with
    the skill (``authored``), else what the manifest says of them, without cases."""
    tools = {}
    for entry in entries:
        ref = f"{server_id}:{entry['definition']['toolName']}"
        schema = entry.get("json_schema") or {}
        params = schema.get("parameters", {"type": "object", "properties": {}})
        made: dict[str, Any] = {
            "description": schema.get("description") or entry["description"],
            "params": params,
        }
        if entry.get("idempotent"):
            made["idempotent"] = True
        # What an agent was told holds over what came beside it.
        tools[ref] = {**authored.get(ref, {}), **made}
    return yaml_text(tools_document(tools))
