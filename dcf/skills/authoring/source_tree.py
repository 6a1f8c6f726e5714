"""The source folder: which files it holds, read once, with the problems of reading them.

::

    skills_src/
      skills/**/*.skill.yaml
      tools/_index.yaml, and the files it lists   (or a single tools.yaml)
      registry.yaml
      policy.yaml       who may do what             (may be missing)
      tools.lock.json   what real servers said      (may be missing)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dcf.problem import Problem
from dcf.skills.authoring.place import Document, Place
from dcf.skills.authoring.shape import check_shape
from dcf.skills.authoring.source_file import SourceFile, read_source

_INDEX = "tools/_index.yaml"
_SAID_NAME = re.compile(r"manifestId:\s*[\"']?skill\.(?P<name>[\w.-]+)@")


@dataclass(slots=True)
class SourceTree:
    """Everything read from ``root``. Each place is the root of one document that is valid YAML;
    whether it has the right shape is said in ``problems``."""

    root: Path
    skills: list[Place] = field(default_factory=list)
    tools: list[Place] = field(default_factory=list)
    registry: Place | None = None
    policy: Place | None = None
    pins: Place | None = None
    seed: int = 0
    files: dict[str, SourceFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def open(self, path: Path) -> SourceFile:
        """The file at ``path``, read at most once, so that digests are of what was used."""
        name = path.relative_to(self.root).as_posix()
        if name not in self.files:
            self.files[name] = read_source(path, self.root)
        return self.files[name]

    @property
    def broken_skills(self) -> frozenset[str]:
        """The names, as far as their files tell them, of skills that are there and that nobody can
        refer to: no YAML, or without a name, a version or a manifestId."""
        whole = {
            Path(skill.document.file).relative_to(self.root).as_posix()
            for skill in self.skills
            if all(skill.text("metadata", key) for key in ("name", "version", "manifestId"))
        }
        others = [
            file
            for name, file in self.files.items()
            if name.endswith(".skill.yaml") and name not in whole
        ]
        return frozenset(name for file in others for name in _names_told(file))

    def load(self, path: Path, schema: str, prefix: str) -> Place | None:
        """The document at ``path``; its problems join the others."""
        document, problems = self.open(path).document()
        self.problems.extend(problems)
        if document is None:
            return None
        self.problems.extend(check_shape(document.root, schema, prefix))
        return document.root


def _names_told(file: SourceFile) -> Iterable[str]:
    """What a skill that cannot be read may be called: by its place, and by its text."""
    domain, _, rest = file.name.removeprefix("skills/").removesuffix(".skill.yaml").rpartition("/")
    yield f"{domain}.{rest}" if domain else rest
    if file.data is not None:
        yield from (match["name"].lower() for match in _SAID_NAME.finditer(file.text))


def read_tree(root: Path) -> SourceTree:
    """Read the whole source folder. A broken file never hides the problems of the others."""
    tree = SourceTree(root)
    if not root.is_dir():
        hint = "give the folder that holds skills/, tools/ and registry.yaml"
        tree.problems.append(_missing(root, "there is no such folder", hint))
        return tree
    _read_skills(tree)
    _read_tools(tree)
    _read_registry(tree)
    policy = root / "policy.yaml"
    if os.path.lexists(policy):  # what is there and cannot be read is said, not passed over
        tree.policy = tree.load(policy, "policy", "POLICY")
    tree.problems.extend(_misnamed_policies(root))
    _read_pins(tree)
    return tree


def _read_skills(tree: SourceTree) -> None:
    folder = tree.root / "skills"
    paths = _in_order(folder.rglob("*.skill.yaml"), tree.root)
    if not paths:
        hint = "write the first skill as skills/<domain>/<name>.skill.yaml"
        tree.problems.append(_missing(folder, "there is no *.skill.yaml file", hint))
    for path in paths:
        place = tree.load(path, "skill.authoring", "SKILL")
        if place:
            tree.skills.append(place)


def _in_order(paths: Iterable[Path], root: Path) -> list[Path]:
    return sorted(paths, key=lambda path: path.relative_to(root).as_posix())


def _read_tools(tree: SourceTree) -> None:
    index, single = tree.root / _INDEX, tree.root / "tools.yaml"
    if index.is_file():
        place = tree.load(index, "tools_index.authoring", "TOOL")
        paths = _listed(tree, place) if place else []
    elif single.is_file():
        place, paths = None, [single]
    else:
        hint = f"list the tools files in {_INDEX}"
        tree.problems.append(_missing(index, "there is no tools index", hint))
        return
    for path in paths:
        loaded = tree.load(path, "tools.authoring", "TOOL")
        if loaded:
            tree.tools.append(loaded)
            place = place or loaded
    seed = place.member("seed") if place else None
    if seed and isinstance(seed.value, int) and not isinstance(seed.value, bool):
        tree.seed = seed.value


def _listed(tree: SourceTree, index: Place) -> list[Path]:
    folder = tree.root / "tools"
    found: dict[str, Path] = {}
    files = index.member("files")
    for entry in files.elements() if files else ():
        if not isinstance(entry.value, str) or not entry.value:
            continue
        path = folder / entry.value
        if not is_inside(path, folder):
            message = f"{entry.value!r} lies outside the folder of the index"
            tree.problems.append(
                entry.problem(
                    "TOOL_FILE_OUTSIDE", message, hint="move the file below skills_src/tools"
                )
            )
        elif not is_file(path):
            message = f"the file {entry.value!r} does not exist"
            tree.problems.append(
                entry.problem(
                    "TOOL_FILE_MISSING",
                    message,
                    hint="correct the name, or remove it from the list",
                )
            )
        elif PurePosixPath(entry.value).as_posix() in found:
            message = f"the file {entry.value!r} is listed twice"
            tree.problems.append(
                entry.problem("TOOL_FILE_TWICE", message, hint="remove one of the two lines")
            )
        else:
            found[PurePosixPath(entry.value).as_posix()] = path
    for path in _in_order(folder.rglob("*.tools.yaml"), folder):
        if path.relative_to(folder).as_posix() not in found:
            message = f"{path.relative_to(folder).as_posix()} is not listed, so it is not read"
            tree.problems.append(
                index.problem("TOOL_FILE_UNLISTED", message, "add it to files", "warning")
            )
    return list(found.values())


def _read_registry(tree: SourceTree) -> None:
    path = tree.root / "registry.yaml"
    if not os.path.lexists(path):
        hint = "write where each tool server is reached"
        tree.problems.append(_missing(path, "there is no registry.yaml", hint))
        return
    tree.registry = tree.load(path, "registry.authoring", "REG")


def _misnamed_policies(root: Path) -> Iterable[Problem]:
    """What is meant as a policy must not count as none."""
    for name in ("policy.yml", "policy.json"):
        if os.path.lexists(root / name):
            message = f"{name} is not read: the policy is policy.yaml"
            yield Problem("POLICY_FILE", message, hint="rename it", file=str(root / name))


def _read_pins(tree: SourceTree) -> None:
    path = tree.root / "tools.lock.json"
    if not os.path.lexists(path):
        return
    source = tree.open(path)
    tree.problems.extend(source.problems)
    if source.data is None:
        return
    try:
        value = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        hint = "write it anew with `dcf skills lock`"
        message = f"this is no JSON: {error}"
        tree.problems.append(
            Problem("LOCK_JSON", message, hint=hint, file=str(path), line=line, column=1)
        )
        return
    root = Document(str(path), value, {}).root
    tree.problems.extend(check_shape(root, "tools_lock", "LOCK"))
    tree.pins = root


def is_inside(path: Path, folder: Path) -> bool:
    """Whether ``path``, with all symbolic links followed, lies in ``folder``."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a loop of links, or a NUL in the name
        return False


def is_file(path: Path) -> bool:
    """Whether ``path`` is a file, whatever an author may have written as its name."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a NUL
        return False


def _missing(path: Path, message: str, hint: str) -> Problem:
    return Problem("SKILL_SOURCE_MISSING", message, hint=hint, file=str(path))
