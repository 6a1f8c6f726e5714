"""Clones of public repositories: what lists name, by repository and commit."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


class NotThere(Exception):
    """What a list names cannot be had, or is not as it was listed."""


@dataclass(frozen=True, slots=True)
class Clone:
    """``repository`` is ``owner/name`` at GitHub."""

    repository: str
    commit: str


def fetched(wanted: Clone, folder: Path) -> None:
    """Have a commit in the clone ``owner/name`` below ``folder``: where it is not there, it alone
    is fetched, without its history, and a clone that is not there is made, bare.

    Raises ``NotThere`` with what git says."""
    clone, commit = folder / wanted.repository, wanted.commit
    url = f"https://github.com/{wanted.repository}"
    # git removes some day what no ref names.
    fetch = ("fetch", "-q", "--depth", "1", "--no-tags", url, f"{commit}:refs/listed/{commit}")
    try:
        if not clone.is_dir():
            _git(folder, "init", "-q", "--bare", str(clone))
        elif _has(clone, commit, folder):
            return
        _git(folder, "-C", str(clone), *fetch)
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.split())
        raise NotThere(f"{commit} of {url} cannot be fetched into {clone}: {said}") from error
    except OSError as error:
        raise NotThere(f"git, which fetches {url}, cannot be run: {error}") from error


def file_of(clone: Path, commit: str, path: str) -> bytes:
    """A file of a clone; nothing where it has none of this name."""
    shown = subprocess.run(
        ["git", "-C", clone, "show", f"{commit}:{path}"], capture_output=True, check=False
    )
    return shown.stdout


def _has(clone: Path, commit: str, folder: Path) -> bool:
    try:
        _git(folder, "-C", str(clone), "cat-file", "-e", f"{commit}^{{commit}}")
    except subprocess.CalledProcessError:
        return False
    return True


def _git(folder: Path, *arguments: str) -> None:
    # Without the ceiling a repository around ``folder`` would be taken for the clone; without the
    # end of prompts a password would be asked for where a repository is gone.
    around = {"GIT_CEILING_DIRECTORIES": str(folder.resolve()), "GIT_TERMINAL_PROMPT": "0"}
    environment = {**os.environ, **around}
    command = ["git", *arguments]
    subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
