"""Which file on this machine a program's name stands for."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

_SHELLS = frozenset(
    ("sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "rbash", "pwsh")
)


class NoProgram(Exception):
    """A name that stands for no program that may be started."""


def find_program(name: str, search: str, workspace: Path) -> str:
    """The file of the program ``name`` in the folders of ``search`` (a ``PATH``), or that at its
    whole path. Raises NoProgram.

    Nothing is taken from where programs put their results, or where everybody can put a file, and
    no name stands for a shell: who approves a program has seen its name alone.
    """
    if "/" in name:
        if not name.startswith("/") or os.path.normpath(name) != name:
            raise NoProgram(f"{name!r} is no whole path")
        found = name if os.access(name, os.X_OK) and Path(name).is_file() else None
    else:
        # A folder that is not whole is one of the workspace.
        folders = [folder for folder in search.split(os.pathsep) if folder.startswith("/")]
        found = shutil.which(name, path=os.pathsep.join(folders)) if folders else None
    if found is None:
        raise NoProgram(f"there is no program {name!r} in {search or 'an empty PATH'}")
    for reason in _objections(found, workspace):
        raise NoProgram(f"{found}: {reason}")
    return found


def _objections(found: str, workspace: Path) -> Iterator[str]:
    real = Path(found).resolve()
    if real.name in _SHELLS:
        yield f"it is the shell {real}, and commands are run without one"
    for file in (Path(found).parent.resolve() / Path(found).name, real):
        if file.is_relative_to(workspace.resolve()):
            yield "it lies in the workspace, where programs write"
        for each in (file, file.parent):
            if each.stat().st_mode & stat.S_IWOTH:
                yield f"everybody may write to {each}"
