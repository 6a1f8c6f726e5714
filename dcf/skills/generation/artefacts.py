"""All generated files as bytes, by path below the generated folder."""

from __future__ import annotations

from typing import Any

from dcf.skills.authoring.shape import schema_texts
from dcf.skills.authoring.source_tree import SourceTree
from dcf.skills.authoring.tool_index import ToolIndex
from dcf.skills.canonical import digest, file_json
from dcf.skills.generation.manifest_form import manifest_document, manifest_file
from dcf.skills.generation.registry_form import registry_document
from dcf.skills.generation.stub_form import stub_document

CATALOG = "catalogs/skills_catalog.json"
LOCK = "skills.lock.json"


def build_artefacts(tree: SourceTree, tools: ToolIndex) -> dict[str, bytes]:
    """Every file that the sources give, the lock file last. The sources have passed all checks."""
    manifests = [manifest_document(skill, tree, tools) for skill in tree.skills]
    manifests.sort(key=lambda manifest: str(manifest["manifestId"]))
    files = {
        f"manifests/{manifest_file(manifest['manifestId'])}": file_json(manifest)
        for manifest in manifests
    }
    files[CATALOG] = file_json({"skills": [_catalog_entry(manifest) for manifest in manifests]})
    files["stub/stub_config.json"] = file_json(stub_document(tools, tree.seed))
    if tree.registry:
        files["registry.json"] = file_json(registry_document(tree.registry))
    for name, text in schema_texts().items():
        files[f"schemas/{name}"] = text.encode()
    files[LOCK] = file_json(_lock_document(tree, files))
    return files


def _catalog_entry(manifest: dict[str, Any]) -> dict[str, str]:
    return {
        "manifestId": manifest["manifestId"],
        "skillName": manifest["skillName"],
        "skillVersion": manifest["skillVersion"],
        "description": manifest["description"],
        "path": f"../manifests/{manifest_file(manifest['manifestId'])}",
    }


def _lock_document(tree: SourceTree, files: dict[str, bytes]) -> dict[str, Any]:
    return {
        "lockVersion": 1,
        "sources": {name: digest(file.data or b"") for name, file in tree.files.items()},
        "artefacts": {name: digest(data) for name, data in files.items()},
    }
