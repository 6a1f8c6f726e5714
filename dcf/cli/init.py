"""``dcf init``: a project of the user's own, ready to be run, tested and changed."""

from __future__ import annotations

import filecmp
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from dcf.cli.answer import Answer
from dcf.cli.trouble import BadInput
from dcf.cli.wording import counted
from dcf.problem import Problem
from dcf.skills import generate_all
from dcf_agents.shipped import EXAMPLES, shipped

_STARTER = Path(__file__).resolve().parent / "starter"
# Files of these names would be read by git where the starter lies.
_NAMES = {"gitattributes": ".gitattributes", "gitignore": ".gitignore"}
_SOURCES, _GENERATED = "skills_src", "generated"
# What runs leave in a clone that is used.
_LEFT_BY_RUNS = {"runs", "plannings", "__pycache__"}
_STARTED = "dcf run workflows/greet.json --input workflows/inputs/ada.json"
_EXAMPLE = "dcf run workflows/order-processing.json --input workflows/inputs/order-normal.json"


def start_project(folder: Path, *, examples: bool) -> Answer:
    """Write the project into ``folder``, which is made if need be: one skill, one workflow, one
    input and tests; with ``examples`` those that come with DCF in their place. Raises BadInput with
    every file that is in the way, and then nothing is written."""
    files = dict(_examples() if examples else _starter())
    problems = list(_in_the_way(folder, files))
    if problems:
        raise BadInput(problems)
    for name, source in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # Not their permissions: the originals may belong to a system and be read-only.
        shutil.copyfile(source, target)
    written = list(files)
    if not examples:
        result = generate_all(folder / _SOURCES, folder / _GENERATED)
        written += [f"{_GENERATED}/{name}" for name in result.written]
    commands = ["dcf skills test", _EXAMPLE if examples else _STARTED]
    begin = [] if folder.samefile(Path.cwd()) else [f"cd {_typed(folder)}"]
    show = [f"{folder}: {counted(len(written), 'file', 'files')} written", "Next:"]
    show += [f"  {command}" for command in [*begin, *commands]]
    fields = {"folder": str(folder), "written": sorted(written), "next": [*begin, *commands]}
    return Answer(fields, show)


def _starter() -> Iterator[tuple[str, Path]]:
    for file in _below(_STARTER):
        name = file.relative_to(_STARTER)
        yield str(name.with_name(_NAMES.get(name.name, name.name))), file


def _examples() -> Iterator[tuple[str, Path]]:
    for name, path in _NAMES.items():
        yield path, _STARTER / name
    for folder in EXAMPLES:
        root = shipped(folder)
        for file in _below(root):
            yield str(Path(folder) / file.relative_to(root)), file


def _below(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not _LEFT_BY_RUNS & set(path.relative_to(root).parts):
            yield path


def _typed(folder: Path) -> str:
    """The path as an argument of a shell's command."""
    name = str(folder)
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def _in_the_way(folder: Path, files: Mapping[str, Path]) -> Iterator[Problem]:
    """Each file below ``folder`` that would be overwritten, and each where a folder has to be. What
    an earlier call wrote, which may have been killed, is in nobody's way."""
    targets = {folder / name: source for name, source in files.items()}
    inner = {path for target in targets for path in target.parents if folder in path.parents}
    inner.add(generated := folder / _GENERATED)
    found = {target for target, source in targets.items() if _is_other(target, source)}
    # No link inside: it would be followed to wherever it leads.
    found |= {path for path in inner if path.is_symlink() or (path.exists() and not path.is_dir())}
    found |= {
        path
        for path in (folder, *folder.parents)
        if (path.exists() or path.is_symlink()) and not path.is_dir()
    }
    sources = [target for target in targets if _SOURCES in target.relative_to(folder).parts]
    ours = all(target.is_file() for target in sources) and found.isdisjoint(sources)
    if generated.is_dir() and any(generated.iterdir()) and not ours:
        found.add(generated)
    hint = "nothing is overwritten: name another folder, or move it away"
    for path in sorted(found):
        yield Problem("CLI_EXISTS", "it is in the way", hint=hint, file=str(path))
        hint = ""  # once is enough


def _is_other(target: Path, source: Path) -> bool:
    """Whether there is something else than a copy of ``source``."""
    if target.is_symlink() or not target.is_file():
        return target.is_symlink() or target.exists()
    return not filecmp.cmp(target, source, shallow=False)
