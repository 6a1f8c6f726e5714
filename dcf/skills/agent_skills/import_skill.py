"""From the folder of an Agent Skill into the source folder: planned whole, then written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dcf.problem import Problem, has_errors
from dcf.skills.agent_skills.folder import TESTS, SkillFolder, read_folder
from dcf.skills.agent_skills.reading import ReadSkill, read_skill
from dcf.skills.agent_skills.source_form import skill_source, source_place, tools_source
from dcf.skills.agent_skills.tool_files import (
    Authored,
    cases_left_out,
    cases_missing,
    read_tools,
)
from dcf.skills.agent_skills.yaml_text import yaml_text
from dcf.skills.authoring.place import Document
from dcf.skills.authoring.shape import check_shape
from dcf.skills.authoring.source_file import MAX_BYTES
from dcf.skills.authoring.source_plan import SourcePlan
from dcf.skills.manifest import Manifest
from dcf.skills.version import parse_ref

_SUFFIX = ".skill.yaml"


@dataclass(slots=True)
class ImportedSkill:
    """``written`` and ``extended`` are paths below the source folder (with ``dry_run``: those that
    would be); with an error among ``problems`` nothing was written."""

    problems: list[Problem]
    manifest: Manifest | None = None
    ours: bool = False
    written: list[str] = field(default_factory=list)
    extended: list[str] = field(default_factory=list)


def import_skill(
    path: Path, root: Path, generated: Path, *, dry_run: bool = False
) -> ImportedSkill:
    """Bring the skill in folder ``path`` into the source folder ``root``. ``generated`` is where
    its schemas are (or will be). Nothing is overwritten, nothing of the skill is run."""
    folder, problems = read_folder(path)
    if folder is None:
        return ImportedSkill(problems)
    place = path.parent if path.name == "SKILL.md" else path
    read = read_skill(folder, place)
    result = ImportedSkill(list(read.problems), read.manifest, read.ours)
    if read.manifest is None:
        return result
    plan = SourcePlan(root, generated / "schemas")
    result.problems += _plan(plan, folder, read, read.manifest, place)
    result.problems += plan.problems
    if has_errors(result.problems):
        return result
    if dry_run:
        result.written = list(plan.files)
        return result
    plan.carry_out()
    result.problems += plan.problems
    result.written, result.extended = plan.written, plan.extended
    return result


def _plan(
    plan: SourcePlan, folder: SkillFolder, read: ReadSkill, manifest: Manifest, place: Path
) -> list[Problem]:
    problems = [*_unfit(manifest, place), *_needs(plan, manifest, place)]
    for skill in plan.tree.skills:
        if skill.text("metadata", "name") == manifest.name:
            hint = "change that file, or remove it first"
            message = f"the skill {manifest.name!r} is there already"
            plan.object("AGENT_SKILL_TAKEN", message, hint, Path(skill.document.file))
    where, stem = source_place(manifest.name)
    tests, wrong = _tests(folder, place)
    authored, unfit = read_tools(folder, manifest, place)
    document, files = skill_source(manifest, stem, folder, tests)
    problems += [*wrong, *unfit]
    problems += cases_left_out(authored, plan.tools, place)
    problems += cases_missing(tests, authored, plan.tools, place)
    text = yaml_text(document)
    source = f"{where}/{stem}{_SUFFIX}"
    root = Document(str(place), document, {}).root
    problems += [
        problem for problem in check_shape(root, "skill.authoring", "SKILL") if problem.is_error
    ]
    if len(text.encode()) > MAX_BYTES - 1000:
        message = "the instructions make a source file larger than 1 MiB"
        problems.append(Problem("AGENT_SKILL_SIZE", message, file=str(place)))
    plan.create(source, text, "skill")
    files.update({f"{stem}/{path}": folder.files[path] for path in read.beside})
    for name, data in files.items():
        if name.endswith((_SUFFIX, ".tools.yaml")):
            hint = "rename the file, and what names it"
            message = "the name says that this is a source of DCF, which it is not"
            problems.append(Problem("AGENT_SKILL_PATH", message, hint=hint, file=name))
        plan.add(f"{where}/{name}", data)
    _plan_tools(plan, manifest, authored)
    return problems


def _plan_tools(plan: SourcePlan, manifest: Manifest, authored: Authored) -> None:
    entries = manifest.raw.get("requiredTools", ())
    fresh: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        server_id = entry["definition"]["serverId"]
        ref = f"{server_id}:{entry['definition']['toolName']}"
        known = plan.tools.tools.get(ref)
        if known is None:
            fresh.setdefault(server_id, []).append(entry)
        elif known.params != (entry.get("json_schema") or {}).get("parameters"):
            hint = "compare the two with `dcf skills diff`; the tools file holds"
            message = f"the tool {ref!r} takes other arguments here than where the skill was made"
            problem = known.place.problem("AGENT_SKILL_TOOL", message, hint, "warning")
            plan.problems.append(problem)
    files = {server_id: _free_file(plan.root / "tools", server_id) for server_id in fresh}
    for server_id, tools in fresh.items():
        plan.create(f"tools/{files[server_id]}", tools_source(server_id, tools, authored), "tools")
    plan.index(list(files.values()))
    plan.registry(list(dict.fromkeys(entry["definition"]["serverId"] for entry in entries)))


def _free_file(folder: Path, server_id: str) -> str:
    """The name of a new tools file: a server may stand in several."""
    number, name = 1, f"{server_id}.tools.yaml"
    while (folder / name).exists():
        number += 1
        name = f"{server_id}-{number}.tools.yaml"
    return name


def _needs(plan: SourcePlan, manifest: Manifest, place: Path) -> list[Problem]:
    """Skills that are missing in the tree."""
    known = {skill.text("metadata", "name") for skill in plan.tree.skills}
    missing = [
        ref
        for ref in manifest.dependencies
        if parse_ref(ref).name.removeprefix("skill.") not in known
    ]
    message = "needs the skill {!r}, which is not here"
    hint = "import that one too, before you generate"
    return [
        Problem("AGENT_SKILL_NEEDS", message.format(ref), "", hint, "warning", str(place))
        for ref in missing
    ]


def _unfit(manifest: Manifest, place: Path) -> list[Problem]:
    """What of a manifest a source cannot say."""
    raw = manifest.raw
    lost = []
    if raw["manifestId"] != f"skill.{manifest.name}@{manifest.version}":
        lost.append(f"manifestId {raw['manifestId']!r}")
    if raw["skillPackageId"] is not None:
        lost.append(f"skillPackageId {raw['skillPackageId']!r}")
    message = "a source cannot say it: {}"
    hint = "keep dcf.manifest.json, or leave it out of the manifest"
    return [
        Problem("AGENT_SKILL_LOST", message.format(what), "", hint, "warning", str(place))
        for what in lost
    ]


def _tests(folder: SkillFolder, place: Path) -> tuple[list[dict[str, Any]], list[Problem]]:
    data = folder.files.get(TESTS)
    if data is None:
        return [], []
    try:
        tests = json.loads(data)["tests"]
        return [dict(test) for test in tests], []
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        message = f"this is no list of tests: {error}"
        problem = Problem("AGENT_SKILL_TESTS", message, "", "remove the file", "error")
        return [], [problem.at(file=str(place / TESTS))]
