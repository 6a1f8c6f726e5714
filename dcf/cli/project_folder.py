"""Which project a command is about."""

from __future__ import annotations

from pathlib import Path


def project_folder(folder: Path) -> Path:
    """The nearest folder from ``folder`` up that git keeps; without one ``folder`` itself."""
    above = (one for one in (folder, *folder.parents) if (one / ".git").exists())
    return next(above, folder)
