"""What the parts of the pipeline did, member by member as the earlier system's tools answered."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dcf.problem import Problem, has_errors
from dcf.skills.authoring.shape import schema_texts
from dcf.skills.authoring.tool_index import ToolIndex
from dcf.skills.generation.artefacts import CATALOG, REGISTRY, STUB, manifest_documents
from dcf.skills.generation.manifest_form import manifest_file
from dcf.skills.generation.sources import Sources


def report(sources: Sources, folder: Path) -> dict[str, Any]:
    """``{summary, manifests_result, stub_config_result, registry_result, schemas_result}`` for
    everything generated into ``folder``."""
    manifests = manifest_documents(sources.tree, sources.tools) if sources.ok else []
    skills = manifests_result(sources.problems, manifests, folder / "manifests", folder / CATALOG)
    stub = stub_result(sources.problems, sources.tools, folder / STUB)
    servers = registry_result(sources.problems, _server_count(sources), folder / REGISTRY)
    return {
        "summary": summary(sources, len(manifests)),
        "manifests_result": skills,
        "stub_config_result": stub,
        "registry_result": servers,
        "schemas_result": schemas_result(folder / "schemas"),
    }


def summary(sources: Sources, skill_count: int) -> str:
    """One line for people."""
    if not sources.ok:
        count = sum(problem.is_error for problem in sources.problems)
        return f"nothing generated: {count} {'error' if count == 1 else 'errors'}"
    cases = case_count(sources.tools)
    tools = len(sources.tools.tools)
    servers = _server_count(sources)
    return f"skills: {skill_count}, tools: {tools}, cases: {cases}, servers: {servers}"


def outcome(problems: Iterable[Problem], done: str) -> dict[str, Any]:
    """``{ok, exit_code, status, error, warnings}``; exit code 4 is the earlier system's."""
    found = list(problems)
    if has_errors(found):
        error = "\n".join(str(problem) for problem in found if problem.is_error)
        head: dict[str, Any] = {"ok": False, "exit_code": 4, "status": "failed", "error": error}
    else:
        head = {"ok": True, "exit_code": 0, "status": done, "error": None}
    return {**head, "warnings": [str(problem) for problem in found if not problem.is_error]}


def manifests_result(
    problems: Iterable[Problem], manifests: list[dict[str, Any]], folder: Path, catalog: Path
) -> dict[str, Any]:
    entries = [
        {
            "manifestId": manifest["manifestId"],
            "skillName": manifest["skillName"],
            "skillVersion": manifest["skillVersion"],
            "path": str(folder / manifest_file(manifest["manifestId"])),
        }
        for manifest in manifests
    ]
    result = outcome(problems, f"{len(entries)} manifests")
    written = [*(entry["path"] for entry in entries), str(catalog)] if result["ok"] else []
    return {**result, "written_files": written, "manifests": entries}


def stub_result(problems: Iterable[Problem], tools: ToolIndex, file: Path) -> dict[str, Any]:
    result = outcome(problems, f"{len(tools.tools)} tools")
    return {
        **result,
        "written_file": str(file) if result["ok"] else None,
        "tool_count": len(tools.tools),
        "case_count": case_count(tools),
    }


def registry_result(problems: Iterable[Problem], count: int, file: Path) -> dict[str, Any]:
    result = outcome(problems, f"{count} servers")
    return {
        **result,
        "written_file": str(file) if result["ok"] else None,
        "server_count": count,
    }


def schemas_result(folder: Path) -> dict[str, Any]:
    names = [str(folder / name) for name in schema_texts()]
    return {**outcome([], f"{len(names)} schemas"), "written_files": names, "skipped_files": []}


def case_count(tools: ToolIndex) -> int:
    return sum(1 for tool in tools.tools.values() for _ in tool.cases())


def _server_count(sources: Sources) -> int:
    servers = sources.tree.registry.member("servers") if sources.tree.registry else None
    return sum(1 for _ in servers.members()) if servers else 0
