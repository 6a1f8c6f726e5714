"""Files that lie beside the source of an imported skill and are in no manifest."""

from __future__ import annotations

from pathlib import Path

from dcf.regular_file import read_regular
from dcf.skills.agent_skills.folder import MOST_BYTES, MOST_FILES
from dcf.skills.authoring.source_tree import SourceTree, is_inside

_SUFFIX = ".skill.yaml"


def files_beside(tree: SourceTree, manifest_id: str) -> dict[str, bytes]:
    """The files of the folder beside the skill's source that is called as it is, by path below
    that folder. Raises OSError."""
    files: dict[str, bytes] = {}
    for skill in tree.skills:
        source = Path(skill.document.file)
        if skill.text("metadata", "manifestId") != manifest_id or not source.name.endswith(_SUFFIX):
            continue
        folder = source.with_name(source.name.removesuffix(_SUFFIX))
        left = MOST_BYTES
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or not is_inside(path, folder) or len(files) >= MOST_FILES:
                continue
            data = read_regular(path, left + 1)
            left -= len(data)
            if left < 0:
                break
            files[path.relative_to(folder).as_posix()] = data
    return files
