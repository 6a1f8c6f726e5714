"""``dcf skills diff``: what changed between two skills or two trees, and which version it asks
for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.generated_skills import open_skills
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem, has_errors
from dcf.regular_file import read_regular
from dcf.skills import Manifest, manifests_of
from dcf.skills.agent_skills import SKILL_MD, read_folder, read_skill
from dcf.skills.comparison import Comparison, TreeComparison, compare_skills, compare_trees

_CATALOG = Path("catalogs/skills_catalog.json")
Operand = Manifest | list[Manifest]


def diff_skills(before: str, after: str, generated: Path, *, check: bool) -> Answer:
    """Compare two skills (refs, manifests, folders of Agent Skills) or two trees (generated or
    source folders). Raises BadInput, SkillError."""
    one, other = _operand(before, generated), _operand(after, generated)
    if isinstance(one, Manifest) and isinstance(other, Manifest):
        compared = compare_skills(one, other)
        answer = Answer(compared.to_json(), list(_lines(compared)))
        return _checked(answer, [compared]) if check else answer
    if isinstance(one, list) and isinstance(other, list):
        trees = compare_trees(one, other)
        answer = Answer(trees.to_json(), list(_tree_lines(trees)))
        return _checked(answer, trees.compared) if check else answer
    hint = "give two skills, or two folders of skills"
    raise BadInput([Problem("CLI_USAGE", "a skill and a tree cannot be compared", hint=hint)])


def _checked(answer: Answer, compared: list[Comparison] | tuple[Comparison, ...]) -> Answer:
    small = [one for one in compared if not one.is_enough]
    if not small:
        return answer
    told = tuple(
        f"{one.before.manifest_id} -> {one.after.version}: {one.asked} is asked, {one.step} was "
        f"made; at least {one.next_version}"
        for one in small
    )
    count = counted(len(small), "version", "versions")
    note = ErrorNote("version_too_low", f"{count} went up too little", "raise it", told)
    return replace(answer, status="version_too_low", error=note, exit_code=FAILED)


def _operand(text: str, generated: Path) -> Operand:
    path = Path(text)
    if path.is_dir() or path.name == SKILL_MD:
        return _folder(path)
    if path.is_file():
        return _manifest(path)
    return open_skills(generated).resolve(text)


def _folder(path: Path) -> Operand:
    if path.name == SKILL_MD or (path / SKILL_MD).is_file():
        folder, problems = read_folder(path)
        read = read_skill(folder, path) if folder else None
        if read is None or read.manifest is None:
            raise BadInput(read.problems if read else problems)
        return read.manifest
    if (path / _CATALOG).is_file():
        return list(open_skills(path))
    if (path / "skills").is_dir():
        manifests, found = manifests_of(path)
        if has_errors(found):
            raise BadInput(found)
        return manifests
    message = "neither generated skills nor sources, and no SKILL.md"
    hint = "name a folder with catalogs/, with skills/, or with SKILL.md"
    raise BadInput([Problem("CLI_FOLDER", message, hint=hint, file=str(path))])


def _manifest(path: Path) -> Manifest:
    try:
        document = json.loads(read_regular(path))
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise BadInput([Problem("CLI_JSON", message, file=str(path))]) from error
    except (ValueError, RecursionError) as error:
        message = f"this is no JSON: {error}"
        raise BadInput([Problem("CLI_JSON", message, file=str(path))]) from error
    return Manifest.from_document(document if isinstance(document, dict) else {}, str(path))


def _lines(compared: Comparison) -> Iterator[str]:
    before, after = compared.before.manifest_id, compared.after.manifest_id
    yield f"{before} -> {after}"
    for change in compared.changes:
        yield f"  {change.bump:<5}  {change.place}: {change.text}"
        yield f"         because {change.reason}"
    if not compared.changes:
        yield "  nothing changed"
        return
    verdict = "enough" if compared.is_enough else f"too little: at least {compared.next_version}"
    yield f"  asked: {compared.asked}, made: {compared.step} ({verdict})"


def _tree_lines(trees: TreeComparison) -> Iterator[str]:
    for compared in trees.compared:
        yield from _lines(compared)
    yield from (f"new      {name}" for name in trees.added)
    yield from (f"removed  {name}" for name in trees.removed)
    counts = f"{len(trees.compared)} changed, {len(trees.added)} new, {len(trees.removed)} removed"
    yield f"{counts}, {trees.unchanged} unchanged"
