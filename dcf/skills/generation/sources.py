"""Sources that were read and checked: all that generation needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dcf.problem import Problem, has_errors
from dcf.skills.authoring.check_egress import check_egress
from dcf.skills.authoring.check_pins import check_pins
from dcf.skills.authoring.check_policy import check_policy
from dcf.skills.authoring.check_registry import check_registry
from dcf.skills.authoring.check_skill import check_skills
from dcf.skills.authoring.check_tool import check_tools
from dcf.skills.authoring.dependencies import Dependencies, resolve_dependencies
from dcf.skills.authoring.source_tree import SourceTree, read_tree
from dcf.skills.authoring.tool_index import ToolIndex, index_tools


@dataclass(frozen=True, slots=True)
class Sources:
    """``problems`` in order of file, line and column; without errors the rest can be generated."""

    tree: SourceTree
    tools: ToolIndex
    dependencies: Dependencies
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not has_errors(self.problems)


def read_sources(skills_src_dir: Path) -> Sources:
    """Read and check the whole source folder; never raises for what stands in it."""
    tree = read_tree(skills_src_dir)
    tools = index_tools(tree.tools)
    dependencies = resolve_dependencies(tree.skills, tree.broken_skills)
    problems = [
        *tree.problems,
        *check_skills(tree, tools),
        *dependencies.problems,
        *check_tools(tools),
        *check_registry(tree.registry, tools),
        *check_policy(tree.policy, tools.tools),
        *check_pins(tree.pins, tools),
        *check_egress(tree, tools),
    ]
    problems.sort(key=_reading_order)
    return Sources(tree, tools, dependencies, tuple(problems))


def _reading_order(problem: Problem) -> tuple[str, int, int, str, str]:
    place = (problem.file or "", problem.line or 0, problem.column or 0)
    return (*place, problem.code, problem.message)
