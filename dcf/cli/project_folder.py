"""Which project a command is about."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dcf.cli.trouble import BadInput
from dcf.problem import Problem

_REGISTRY = Path("skills_src", "registry.yaml")
"""Every project of `dcf init` has it: workers take the folder that it is in for the project."""


def project_folder(folder: Path) -> Path:
    """The nearest folder from ``folder`` up that git keeps or that has skills; without one
    ``folder`` itself."""
    above = (one for one in (folder, *folder.parents) if _is_project(one))
    return next(above, folder)


def demand_project(folder: Path) -> None:
    """Raises BadInput where ``folder`` holds all that somebody has: it would be searched as a
    whole."""
    wide = {one.resolve() for one in (Path.home(), Path("/"), Path(tempfile.gettempdir()))}
    if folder.resolve() in wide and not _is_project(folder):
        message = f"{folder} is no project: it holds everything"
        hint = "go to a project's folder, or name one with --root DIR"
        raise BadInput([Problem("cli_project", message, hint=hint)])


def path_from_here(path: str, project: str) -> str:
    """A path that somebody in this folder wrote, as the ``project`` (an absolute folder) names it;
    from a folder outside of the project it is relative to that already."""
    here = Path.cwd().resolve()
    return str(here / path) if here.is_relative_to(project) else path


def _is_project(folder: Path) -> bool:
    return (folder / ".git").exists() or (folder / _REGISTRY).is_file()
