"""The pipeline: read everything, check everything, then write everything or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.problem import Problem, has_errors
from dcf.skills.authoring.check_registry import check_registry
from dcf.skills.authoring.check_skill import check_skills
from dcf.skills.authoring.check_tool import check_tools
from dcf.skills.authoring.source_tree import SourceTree, read_tree
from dcf.skills.authoring.tool_index import ToolIndex, index_tools
from dcf.skills.generation.artefacts import build_artefacts
from dcf.skills.generation.deposit import deposit


@dataclass(frozen=True, slots=True)
class GenerateResult:
    """``ok`` without errors. Paths are below the generated folder; with errors all are empty."""

    problems: tuple[Problem, ...]
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not has_errors(self.problems)

    def to_dict(self) -> dict[str, Any]:
        """``{ok, problems: [...], written: [...], removed: [...], unchanged: [...]}``."""
        return {
            "ok": self.ok,
            "problems": [problem.to_dict() for problem in self.problems],
            "written": list(self.written),
            "removed": list(self.removed),
            "unchanged": list(self.unchanged),
        }


def validate_sources(skills_src_dir: Path) -> list[Problem]:
    """Everything that is wrong in the source folder, in order of file, line and column."""
    return _check(read_tree(skills_src_dir))[1]


def generate_all(skills_src_dir: Path, generated_dir: Path) -> GenerateResult:
    """Bring ``generated_dir`` up to date with the sources; with errors nothing is written.

    The same sources give the same bytes, on every machine and in whatever order files are listed.
    """
    tree = read_tree(skills_src_dir)
    tools, problems = _check(tree)
    if has_errors(problems):
        return GenerateResult(tuple(problems))
    try:
        done = deposit(build_artefacts(tree, tools), generated_dir)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        file = str(error.filename or generated_dir)
        hint = "see that the folder can be written and has space, then generate again"
        message = f"cannot be written: {reason}"
        problems.append(Problem("SKILL_WRITE_FAILED", message, hint=hint, file=file))
        return GenerateResult(tuple(problems))
    return GenerateResult(tuple(problems), done.written, done.removed, done.unchanged)


def _check(tree: SourceTree) -> tuple[ToolIndex, list[Problem]]:
    tools = index_tools(tree.tools)
    problems = [
        *tree.problems,
        *check_skills(tree, tools),
        *check_tools(tools),
        *check_registry(tree.registry, tools),
    ]
    problems.sort(key=_reading_order)
    return tools, problems


def _reading_order(problem: Problem) -> tuple[str, int, int, str, str]:
    place = (problem.file or "", problem.line or 0, problem.column or 0)
    return (*place, problem.code, problem.message)
