"""The lock file: digests, resolved dependencies, the schema of every tool
(schemas/skills_lock.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.digest import canonical_json, digest, text_digest, tool_digest
from dcf.skills.authoring.dependencies import Dependencies
from dcf.skills.authoring.source_tree import SourceTree
from dcf.skills.authoring.tool_index import ToolIndex, ToolSource
from dcf.skills.generation.stub_form import announced_result


def lock_document(
    tree: SourceTree,
    tools: ToolIndex,
    dependencies: Dependencies,
    manifests: list[dict[str, Any]],
    files: Mapping[str, bytes],
) -> dict[str, Any]:
    """The lock of sources that passed all checks; ``files`` are all other artefacts."""
    return {
        "lockVersion": 2,
        "sources": {name: text_digest(file.data or b"") for name, file in tree.files.items()},
        "artefacts": {name: digest(data) for name, data in files.items()},
        "skills": {
            manifest["manifestId"]: {
                "digest": digest(canonical_json(manifest)),
                "dependencies": dependencies.resolved.get(manifest["manifestId"], {}),
            }
            for manifest in manifests
        },
        "tools": _pins(tree, tools),
    }


def seen_tools(tree: SourceTree) -> dict[str, Any]:
    """The tools of tools.lock.json: their schemas as the servers listed them."""
    return dict(tree.pins.value["tools"]) if tree.pins else {}


def _pins(tree: SourceTree, tools: ToolIndex) -> dict[str, Any]:
    seen = seen_tools(tree)
    return {
        ref: {**seen[ref], "origin": "server"} if ref in seen else _authored(tool)
        for ref, tool in tools.tools.items()
    }


def _authored(tool: ToolSource) -> dict[str, Any]:
    """What the stub announces: older protocols allow only object schemas for answers."""
    result = announced_result(tool)
    output = result if result.get("type") == "object" else None
    return {
        "inputSchema": tool.params,
        "outputSchema": output,
        "digest": tool_digest(tool.params, output),
        "origin": "authored",
    }
