"""Rules for skills that a JSON Schema cannot say."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.problem import Problem
from dcf.skills.authoring.check_skill_test import check_skill_tests
from dcf.skills.authoring.data_text import check_data_source
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.source_tree import SourceTree
from dcf.skills.authoring.tool_index import ToolIndex, agent_name


def check_skills(tree: SourceTree, tools: ToolIndex) -> Iterator[Problem]:
    """Identity, tools, data sources, tests and profile of every skill."""
    yield from _duplicates(tree.skills)
    for skill in tree.skills:
        yield from _check_identity(skill)
        yield from _check_tools(skill, tools)
        yield from _check_data_sources(skill, tree)
        yield from check_skill_tests(skill, tools)
        yield from _check_profile(skill)


def _duplicates(skills: list[Place]) -> Iterator[Problem]:
    first: dict[str, Place] = {}
    for skill in skills:
        place = skill.inside("metadata", "manifestId")
        if place is None or not isinstance(place.value, str):
            continue
        if place.value in first:
            other = first[place.value]
            where = f"{other.document.file}, line {other.mark[0]}"
            message = f"the manifestId {place.value!r} is taken (by {where})"
            yield place.problem("SKILL_DUPLICATE", message, "raise the version or rename the skill")
        first.setdefault(place.value, place)


def _check_identity(skill: Place) -> Iterator[Problem]:
    place = skill.inside("metadata", "manifestId")
    name, version = skill.text("metadata", "name"), skill.text("metadata", "version")
    if place and name and version and place.value != f"skill.{name}@{version}":
        message = f"manifestId {place.value!r} does not agree with name and version"
        yield place.problem("SKILL_ID_MISMATCH", message, f"write skill.{name}@{version}")


def _check_tools(skill: Place, tools: ToolIndex) -> Iterator[Problem]:
    refs: set[str] = set()
    names: dict[str, str] = {}
    declared = skill.inside("spec", "tools")
    for entry in declared.elements() if declared else ():
        place, ref = entry.member("ref"), entry.text("ref")
        if place is None or not ref or ":" not in ref:
            continue
        if ref not in tools.tools:
            yield place.problem(
                "SKILL_TOOL_UNKNOWN", f"no tools file has a tool {ref!r}", _nearest(tools, ref)
            )
        if ref in refs:
            yield place.problem(
                "SKILL_TOOL_TWICE", f"the tool {ref!r} is listed twice", hint="name each tool once"
            )
            continue
        refs.add(ref)
        name = agent_name(ref.partition(":")[2])
        if name in names:
            message = f"{ref!r} and {names[name]!r} are both called {name!r} by the agent"
            hint = "split the skill, or rename one of the tools"
            yield place.problem("SKILL_TOOL_COLLISION", message, hint)
        names.setdefault(name, ref)


def _nearest(tools: ToolIndex, ref: str) -> str:
    near = tools.closest(ref)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "add it to a file that tools/_index.yaml lists"


def _check_data_sources(skill: Place, tree: SourceTree) -> Iterator[Problem]:
    ids: set[str] = set()
    declared = skill.inside("spec", "dataSources")
    for source in declared.elements() if declared else ():
        name = source.text("id")
        if name in ids:
            yield source.problem(
                "SKILL_DATA_TWICE",
                f"the data source {name!r} stands twice",
                hint="give each data source an id of its own",
            )
        if name:
            ids.add(name)
        yield from check_data_source(source, tree)


def _check_profile(skill: Place) -> Iterator[Problem]:
    profile = skill.inside("spec", "complexityProfile")
    base = profile.member("baseWCS") if profile else None
    scores = profile.member("dimensionScores") if profile else None
    if base is None or scores is None or not isinstance(base.value, int):
        return
    values = [place.value for _, place in scores.members()]
    if all(isinstance(value, int) for value in values) and base.value != sum(values):
        message = f"baseWCS is {base.value}, but the dimension scores add up to {sum(values)}"
        yield base.problem("SKILL_PROFILE_SUM", message, f"write {sum(values)}", "warning")
