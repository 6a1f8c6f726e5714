"""``dcf skills export``: generated skills as folders of Agent Skills."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.skills import Manifest, SkillCatalog, UnknownSkill
from dcf.skills.agent_skills import SKILL_MD, SkillFolder, export_skill, files_beside, write_folder
from dcf.skills.authoring.source_tree import SourceTree, read_tree

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
    folders: dict[str, tuple[Manifest, SkillFolder]] = {}
    problems: list[Problem] = []
    for manifest in chosen:
        beside = files_beside(tree, manifest.manifest_id)
        folder = export_skill(manifest, tests=tests.get(manifest.manifest_id, ()), beside=beside)
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
    return Answer({"out": str(order.out), "skills": entries}, [*show, f"{done} exported"])


def _chosen(order: ExportOrder) -> list[Manifest]:
    if bool(order.refs) == order.everything:
        hint = "as in `dcf skills export tea.brew`; --all for the newest version of each"
        raise BadInput([Problem("CLI_USAGE", "name skills, or --all", hint=hint)])
    catalog = SkillCatalog.load(order.generated)
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
    """The tests of the skills by manifestId, as authors write them."""
    try:
        document = json.loads((generated / _TESTS).read_bytes())
    except (OSError, ValueError):
        return {}  # a tree of an earlier generator has none
    tests: dict[str, list[dict[str, Any]]] = {}
    for test in document.get("tests", ()):
        members = ("name", "tool", "arguments", "expect")
        tests.setdefault(test["skill"], []).append({name: test[name] for name in members})
    return tests
