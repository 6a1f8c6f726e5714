"""Rules for the tests inside a skill: they call its tools, with arguments that fit."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.problem import Problem
from dcf.skills.authoring.arguments import check_arguments
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolIndex


def check_skill_tests(skill: Place, tools: ToolIndex) -> Iterator[Problem]:
    """Names, tools and arguments of the tests of one skill."""
    names: set[str] = set()
    own = _refs(skill)
    declared = skill.inside("spec", "tests")
    for test in declared.elements() if declared else ():
        name, tool = test.text("name"), test.member("tool")
        if name in names:
            message = f"two tests are called {name!r}"
            yield test.problem("SKILL_TEST_TWICE", message, "give each test a name of its own")
        if name:
            names.add(name)
        if tool is None or not isinstance(tool.value, str):
            continue
        if tool.value not in own:
            known = ", ".join(sorted(own)) or "none"
            message = f"{tool.value!r} is no tool of this skill, so the skill cannot call it"
            yield tool.problem("SKILL_TEST_TOOL", message, f"its tools are: {known}")
        elif tool.value in tools.tools:
            arguments = test.member("arguments")
            value = arguments.value if arguments else {}
            yield from check_arguments(arguments or test, value, tools.tools[tool.value])


def _refs(skill: Place) -> set[str]:
    declared = skill.inside("spec", "tools")
    refs = (entry.text("ref") for entry in (declared.elements() if declared else ()))
    return {ref for ref in refs if ref}
