"""Where a user's data lives when nothing else is said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def data_home(env: Mapping[str, str]) -> Path:
    """``DCF_HOME``, else ``dcf`` under ``XDG_DATA_HOME``, else ``~/.local/share/dcf``; absolute.

    A relative ``XDG_DATA_HOME`` is ignored, as the XDG specification asks.
    """
    if chosen := env.get("DCF_HOME"):
        return Path(chosen).expanduser().absolute()
    shared = Path(env.get("XDG_DATA_HOME", ""))
    if shared.is_absolute():
        return shared / "dcf"
    return _user_home(env) / ".local" / "share" / "dcf"


def runtime_folder(env: Mapping[str, str]) -> Path | None:
    """The user's own short-lived folder (``XDG_RUNTIME_DIR``), if the session has one."""
    folder = Path(env.get("XDG_RUNTIME_DIR", ""))
    return folder if folder.is_absolute() and folder.is_dir() else None


def _user_home(env: Mapping[str, str]) -> Path:
    """``HOME`` from the environment given, so that a caller may redirect it."""
    return Path(env["HOME"]).absolute() if env.get("HOME") else Path.home()
