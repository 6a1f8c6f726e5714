"""All generated files as bytes, by path below the generated folder."""

from __future__ import annotations

from typing import Any

from dcf.digest import file_json
from dcf.skills.authoring.dependencies import Dependencies
from dcf.skills.authoring.shape import schema_texts
from dcf.skills.authoring.source_tree import SourceTree
from dcf.skills.authoring.tool_index import ToolIndex
from dcf.skills.generation.lock_form import lock_document, seen_tools
from dcf.skills.generation.manifest_form import manifest_document, manifest_file
from dcf.skills.generation.registry_form import registry_document
from dcf.skills.generation.stub_form import stub_document
from dcf.skills.generation.tests_form import tests_document

CATALOG = "catalogs/skills_catalog.json"
LOCK = "skills.lock"
POLICY = "policy.json"
REGISTRY = "registry.json"
STUB = "stub/stub_config.json"
TESTS = "tests/skill_tests.json"


def build_artefacts(
    tree: SourceTree, tools: ToolIndex, dependencies: Dependencies
) -> dict[str, bytes]:
    """Every file that the sources give, the lock file last. The sources have passed all checks."""
    manifests = manifest_documents(tree, tools)
    files = manifest_files(manifests, "manifests")
    files[CATALOG] = file_json(catalog_document(manifests, "../manifests"))
    files[STUB] = file_json(stub_document(tools, tree.seed, seen_tools(tree)))
    files[TESTS] = file_json(tests_document(tree))
    if tree.registry:
        files[REGISTRY] = file_json(registry_document(tree.registry))
    if tree.policy:
        files[POLICY] = file_json(tree.policy.value)
    files.update(schema_files("schemas"))
    files[LOCK] = file_json(lock_document(tree, tools, dependencies, manifests, files))
    return files


def manifest_documents(tree: SourceTree, tools: ToolIndex) -> list[dict[str, Any]]:
    """The manifests in order of their ids."""
    manifests = [manifest_document(skill, tree, tools) for skill in tree.skills]
    return sorted(manifests, key=lambda manifest: str(manifest["manifestId"]))


def manifest_files(manifests: list[dict[str, Any]], folder: str) -> dict[str, bytes]:
    return {
        f"{folder}/{manifest_file(manifest['manifestId'])}": file_json(manifest)
        for manifest in manifests
    }


def catalog_document(manifests: list[dict[str, Any]], folder: str) -> dict[str, Any]:
    """The catalog; ``folder`` is that of the manifests as seen from the catalog's."""
    return {"skills": [_catalog_entry(manifest, folder) for manifest in manifests]}


def schema_files(folder: str) -> dict[str, bytes]:
    return {f"{folder}/{name}": text.encode() for name, text in schema_texts().items()}


def _catalog_entry(manifest: dict[str, Any], folder: str) -> dict[str, str]:
    return {
        "manifestId": manifest["manifestId"],
        "skillName": manifest["skillName"],
        "skillVersion": manifest["skillVersion"],
        "description": manifest["description"],
        "path": f"{folder}/{manifest_file(manifest['manifestId'])}",
    }
