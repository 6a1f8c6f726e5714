"""Which project a command is about."""

from __future__ import annotations

from pathlib import Path

_REGISTRY = Path("skills_src", "registry.yaml")
"""Every project of `dcf init` has it: workers take the folder that it is in for the project."""


def project_folder(folder: Path) -> Path:
    """The nearest folder from ``folder`` up that git keeps or that has skills; without one
    ``folder`` itself."""
    above = (one for one in (folder, *folder.parents) if _is_project(one))
    return next(above, folder)


def path_from_here(path: str, project: str) -> str:
    """A path that somebody in this folder wrote, as the ``project`` (an absolute folder) names it;
    from a folder outside of the project it is relative to that already."""
    here = Path.cwd().resolve()
    return str(here / path) if here.is_relative_to(project) else path


def _is_project(folder: Path) -> bool:
    return (folder / ".git").exists() or (folder / _REGISTRY).is_file()
