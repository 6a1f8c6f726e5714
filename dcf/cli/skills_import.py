"""``dcf skills import``: folders of Agent Skills as skill sources."""

from __future__ import annotations

from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.trouble import BadInput, listed
from dcf.problem import has_errors
from dcf.skills.agent_skills import import_skill


def import_folder(path: Path, src: Path, generated: Path, *, dry_run: bool) -> Answer:
    """Bring the skill in ``path`` into ``src``. Raises BadInput with everything that is wrong."""
    result = import_skill(path, src, generated, dry_run=dry_run)
    manifest = result.manifest
    if manifest is None or has_errors(result.problems):
        raise BadInput(result.problems)
    written = [str(src / name) for name in result.written]
    extended = [str(src / name) for name in result.extended]
    fields = {
        "manifest_id": manifest.manifest_id,
        "ours": result.ours,
        "dry_run": dry_run,
        "written": written,
        "extended": extended,
        "problems": [problem.to_dict() for problem in result.problems],
    }
    wrote, added = ("would write", "would add to") if dry_run else ("wrote", "added to")
    show = [*listed(result.problems)]
    show += [f"{wrote} {name}" for name in written]
    show += [f"{added} {name}" for name in extended]
    show.append(f"{manifest.manifest_id}: next `dcf skills generate`")
    return Answer(fields, show)
