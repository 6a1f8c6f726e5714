"""The tests of the skills for their runner (schemas/skill_tests.schema.json)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcf.skills.authoring.place import Place
from dcf.skills.authoring.source_tree import SourceTree


def tests_document(tree: SourceTree) -> dict[str, Any]:
    """All tests in order of manifestIds, then as written."""
    skills = sorted(tree.skills, key=lambda skill: str(skill.value["metadata"]["manifestId"]))
    return {"tests": [test for skill in skills for test in _tests(skill, tree.root)]}


def _tests(skill: Place, root: Path) -> list[dict[str, Any]]:
    return [
        {
            "skill": skill.value["metadata"]["manifestId"],
            "name": test["name"],
            "tool": test["tool"],
            "arguments": test.get("arguments", {}),
            "expect": test["expect"],
            "source": Path(skill.document.file).relative_to(root).as_posix(),
        }
        for test in skill.value["spec"].get("tests", [])
    ]
