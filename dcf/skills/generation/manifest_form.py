"""From a skill source to its manifest document (schemas/manifest.schema.json)."""

from __future__ import annotations

from typing import Any

from dcf.skills.authoring.data_text import data_text
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.source_tree import SourceTree
from dcf.skills.authoring.tool_index import ToolIndex, ToolSource, agent_name


def manifest_document(skill: Place, tree: SourceTree, tools: ToolIndex) -> dict[str, Any]:
    """The manifest of a skill that passed all checks."""
    metadata, spec = skill.value["metadata"], skill.value["spec"]
    permissions = spec.get("permissions", {})
    document: dict[str, Any] = {
        "manifestApiVersion": "v2.1.0",
        "skillPackageId": None,
        "manifestId": metadata["manifestId"],
        "skillName": metadata["name"],
        "skillVersion": metadata["version"],
        "skillDirectives": spec["directives"],
        "description": metadata.get("description", ""),
        "tags": list(dict.fromkeys(metadata.get("tags", []))),
        "permissions": {
            "egress": _egress(permissions),
            "secrets": permissions.get("secrets", []),
            "riskLevel": permissions.get("riskLevel", "low"),
            **{name: permissions[name] for name in ("files", "commands") if permissions.get(name)},
        },
        "requiredTools": [
            _required_tool(entry, tools.tools[entry["ref"]]) for entry in spec.get("tools", [])
        ],
        "requiredDataSources": _data_sources(skill, tree),
    }
    for name in ("dependencies", "complexityProfile"):
        if name in spec:
            document[name] = spec[name]
    return document


def _egress(permissions: dict[str, Any]) -> str:
    """What cannot be read gives no permission; a warning said so."""
    egress = permissions.get("egress")
    return egress if egress in ("intranet", "internet") else "none"


def manifest_file(manifest_id: str) -> str:
    """The file name of a manifest: ``@`` becomes ``-``."""
    return f"{manifest_id.replace('@', '-')}.json"


def _required_tool(entry: dict[str, Any], tool: ToolSource) -> dict[str, Any]:
    name = agent_name(tool.name)
    return {
        "toolName": name,
        "description": entry.get("description") or tool.description,
        "required": entry.get("required", True),
        "idempotent": tool.idempotent,
        "definition": {"type": "mcp_server", "serverId": tool.server_id, "toolName": tool.name},
        "json_schema": {
            "name": name,
            "description": tool.description,
            "parameters": tool.params,
        },
    }


def _data_sources(skill: Place, tree: SourceTree) -> list[dict[str, Any]]:
    declared = skill.inside("spec", "dataSources")
    documents = []
    for source in declared.elements() if declared else ():
        document: dict[str, Any] = {
            "dataSourceId": source.value["id"],
            "destination": source.value.get("destination", "archival_memory"),
            "content": {"type": "text_content", "text": data_text(source, tree)},
        }
        if "description" in source.value:
            document["description"] = source.value["description"]
        documents.append(document)
    return documents
