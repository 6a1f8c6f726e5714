"""The tools of a skill in its folder, as authors write them: schemas, default answers, cases.

A manifest has what an agent needs of a tool. What a rehearsal and the skill's tests need beside
it stands in ``dcf.tools.json``: ``{"tools": {"server:tool": …}}``, each as in a tools file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dcf.problem import Problem
from dcf.skills.agent_skills.folder import TOOLS, SkillFolder
from dcf.skills.authoring.place import Document
from dcf.skills.authoring.shape import check_shape
from dcf.skills.authoring.tool_index import ToolIndex
from dcf.skills.manifest import Manifest

Authored = Mapping[str, Mapping[str, Any]]
"""Tools by ``server:tool``, each as in a tools file."""


def refs_of(manifest: Manifest) -> list[str]:
    """The tools of the skill as ``server:tool``."""
    return [f"{tool.server_id}:{tool.tool_name}" for tool in manifest.tools]


def authored_tools(manifest: Manifest, index: ToolIndex) -> dict[str, Any]:
    """The tools of the skill that ``index`` has."""
    return {ref: index.tools[ref].place.value for ref in refs_of(manifest) if ref in index.tools}


def read_tools(
    folder: SkillFolder, manifest: Manifest, place: Path
) -> tuple[dict[str, Any], list[Problem]]:
    """What the folder says of the tools of ``manifest``; of others nothing is taken."""
    data = folder.files.get(TOOLS)
    if data is None:
        return {}, []
    file = str(place / TOOLS)
    try:
        said = json.loads(data)["tools"]
        tools = {ref: dict(said[ref]) for ref in refs_of(manifest) if ref in said}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"these are no tools: {error}"
        return {}, [Problem("AGENT_SKILL_TOOLS", message, "", "remove the file", "error", file)]
    root = Document(file, tools_document(tools), {}).root
    found = check_shape(root, "tools.authoring", "TOOL")
    return tools, [problem for problem in found if problem.is_error]


def tools_document(tools: Authored, about: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A tools file with ``tools``; ``about`` describes servers."""
    servers: dict[str, Any] = {}
    for ref, tool in tools.items():
        server_id, _, name = ref.partition(":")
        told = (about or {}).get(server_id) or f"What {server_id} is for"
        servers.setdefault(server_id, {"description": told, "tools": {}})["tools"][name] = tool
    return {"apiVersion": "tools/v1", "kind": "ToolsRegistry", "servers": servers}


def cases_left_out(authored: Authored, index: ToolIndex, place: Path) -> Iterator[Problem]:
    """A warning for each tool that is in the tree already, and answers otherwise there."""
    for ref, tool in authored.items():
        known = index.tools.get(ref)
        if known is not None and _answers(known.place.value) != _answers(tool):
            message = f"the tool {ref!r} is here already and answers by other cases"
            hint = (
                "the tools file holds; tests that came with the skill may fail: `dcf skills test`"
            )
            file = str(place / TOOLS)
            yield Problem("AGENT_SKILL_CASES", message, "", hint, "warning", file)


def cases_missing(
    tests: Iterable[Mapping[str, Any]], authored: Authored, index: ToolIndex, place: Path
) -> Iterator[Problem]:
    """A warning for each tool that a test calls and whose cases did not come."""
    called = dict.fromkeys(str(test.get("tool")) for test in tests)
    for ref in called:
        if ref not in authored and ref not in index.tools:
            message = f"the tests call {ref!r}, whose cases did not come with the skill"
            hint = "export it again where its tools file is (--src), or write the cases"
            yield Problem("AGENT_SKILL_CASES", message, "", hint, "warning", str(place))


def _answers(tool: Mapping[str, Any]) -> str:
    said = {key: tool.get(key) for key in ("cases", "defaults")}
    return json.dumps(said, sort_keys=True, default=str)
