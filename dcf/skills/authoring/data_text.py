"""The text of a skill's data source: written in place, or in a file beside the skill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dcf.problem import Problem
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.source_tree import SourceTree, is_file, is_inside


def check_data_source(source: Place, tree: SourceTree) -> Iterator[Problem]:
    """Exactly one of ``text`` and ``file``; a file that can be read and lies in the tree."""
    text, file = source.member("text"), source.member("file")
    if (text is None) == (file is None):
        found = "neither" if text is None else "both"
        message = f"a data source has either text or file; here are {found}"
        yield source.problem("SKILL_DATA_CONTENT", message, "keep one of the two")
    if file is None or not isinstance(file.value, str) or not file.value:
        return
    path = _path(file)
    if not is_inside(path, tree.root):
        message = f"the file {file.value!r} lies outside the source folder"
        yield file.problem("SKILL_DATA_OUTSIDE", message, "keep data files beside the skill")
    elif not is_file(path):
        message = f"the file {file.value!r} does not exist"
        yield file.problem("SKILL_DATA_MISSING", message, "the path starts at the skill's folder")
    else:
        for problem in tree.open(_in_tree(path, tree)).problems:
            yield file.problem(problem.code, f"{file.value}: {problem.message}")


def data_text(source: Place, tree: SourceTree) -> str:
    """The text of a data source that passed the check."""
    file = source.member("file")
    if file is None:
        return source.text("text") or ""
    return tree.open(_in_tree(_path(file), tree)).text


def _path(file: Place) -> Path:
    return Path(file.document.file).parent / str(file.value)


def _in_tree(path: Path, tree: SourceTree) -> Path:
    """The path with links and dots resolved, below the root as it was given."""
    return tree.root / path.resolve().relative_to(tree.root.resolve())
