"""``dcf skills export``: generated skills as folders of Agent Skills."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.generated_skills import open_skills
from dcf.cli.trouble import BadInput, listed
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills import Manifest, SourceTree, UnknownSkill, index_tools, read_tree
from dcf.skills.agent_skills import (
    SKILL_MD,
    SkillFolder,
    authored_tools,
    export_skill,
    files_beside,
    refs_of,
    write_folder,
)

_TESTS = Path("tests/skill_tests.json")


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """The command line. ``src`` holds files that no manifest holds, such as pictures."""

    refs: Sequence[str]
    out: Path
    generated: Path
    src: Path
    everything: bool = False
    replace: bool = False


def export_skills(order: ExportOrder) -> Answer:
    """Write the folders. Raises BadInput with everything that is in the way; nothing is written
    then."""
    chosen = _chosen(order)
    tests = _tests(order.generated)
    tree = read_tree(order.src) if order.src.is_dir() else SourceTree(order.src)
    index = index_tools(tree.tools)
    folders: dict[str, tuple[Manifest, SkillFolder]] = {}
    problems: list[Problem] = []
    for manifest in chosen:
        beside = files_beside(tree, manifest.manifest_id)
        folder = export_skill(
            manifest,
            tests=tests.get(manifest.manifest_id, ()),
            tools=authored_tools(manifest, index),
            beside=beside,
        )
        if folder.name in folders:
            other = folders[folder.name][0].manifest_id
            message = f"{manifest.manifest_id} and {other} are both called {folder.name}"
            hint = "export one of them, or each to a folder of its own"
            problems.append(Problem("AGENT_SKILL_TWICE", message, hint=hint))
        folders[folder.name] = manifest, folder
    problems += _in_the_way(order, list(folders))
    if problems:
        raise BadInput(problems)
    entries = [_write(order.out, manifest, folder) for manifest, folder in folders.values()]
    done = counted(len(entries), "skill", "skills")
    show = [f"{entry['folder']}  {entry['manifest_id']}" for entry in entries]
    bare = sorted({ref for one in chosen for ref in refs_of(one)} - set(index.tools))
    warnings = [_without_cases(bare, order.src)] if bare else []
    fields = {
        "out": str(order.out),
        "skills": entries,
        "problems": [warning.to_dict() for warning in warnings],
    }
    return Answer(fields, [*listed(warnings), *show, f"{done} exported"])


def _without_cases(refs: Sequence[str], src: Path) -> Problem:
    """Tests that travel without the cases they call would fail where they arrive."""
    message = f"without their cases: {', '.join(refs)}, which no tools file here has"
    hint = "name the folder of their sources with --src, and export again with --replace"
    return Problem("AGENT_SKILL_CASES", message, hint=hint, severity="warning", file=str(src))


def _chosen(order: ExportOrder) -> list[Manifest]:
    if bool(order.refs) == order.everything:
        hint = "as in `dcf skills export tea.brew`; --all for the newest version of each"
        raise BadInput([Problem("CLI_USAGE", "name skills, or --all", hint=hint)])
    catalog = open_skills(order.generated)
    if order.everything:
        return list({manifest.name: manifest for manifest in catalog}.values())
    found: dict[str, Manifest] = {}
    problems = []
    for ref in order.refs:
        try:
            manifest = catalog.resolve(ref)
            found[manifest.manifest_id] = manifest
        except UnknownSkill as unknown:
            problems.append(Problem(unknown.code, str(unknown), hint="`dcf skills list` has all"))
    if problems:
        raise BadInput(problems)
    return list(found.values())


def _in_the_way(order: ExportOrder, names: Sequence[str]) -> list[Problem]:
    problems = []
    for name in names:
        path = order.out / name
        if not path.exists():
            continue
        # Only what looks like a skill is ever removed.
        if order.replace and (path / SKILL_MD).is_file() and not path.is_symlink():
            continue
        hint = "--replace writes it anew" if (path / SKILL_MD).is_file() else "choose another --out"
        message = "this folder exists"
        problems.append(Problem("AGENT_SKILL_EXISTS", message, hint=hint, file=str(path)))
    return problems


def _write(out: Path, manifest: Manifest, folder: SkillFolder) -> dict[str, Any]:
    path = out / folder.name
    if path.exists():
        shutil.rmtree(path)
    return {
        "manifest_id": manifest.manifest_id,
        "digest": manifest.digest,
        "folder": str(path),
        "files": write_folder(folder, out),
    }


def _tests(generated: Path) -> dict[str, list[dict[str, Any]]]:
    """The tests of the skills by manifestId, as authors write them. Raises BadInput."""
    tests: dict[str, list[dict[str, Any]]] = {}
    members = ("name", "tool", "arguments", "expect")
    try:
        for test in json.loads(read_regular(generated / _TESTS))["tests"]:
            tests.setdefault(test["skill"], []).append({name: test[name] for name in members})
    except FileNotFoundError:
        return {}  # a tree of an earlier generator has none
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        message = f"the tests of the skills cannot be read ({type(error).__name__}: {error})"
        hint = "`dcf skills generate` writes them anew"
        file = str(generated / _TESTS)
        raise BadInput([Problem("CLI_JSON", message, hint=hint, file=file)]) from error
    return tests
