"""How this DCF was installed, and the commands that add to it: what hints print.

On the package index the name ``dcf`` belongs to somebody else, and ours is on no index that we can
count on. So a command names what this installation was made from: the clone, the wheel, or the
repository, as the installer noted it (PEP 610, ``direct_url.json``).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "dcf-agents"

_HERE = Path(__file__).resolve().parent


def extra_command(extra: str) -> str:
    """The shell command that adds the extra ``extra`` of DCF to this environment.

    >>> extra_command("openai")  # doctest: +SKIP
    ".venv/bin/uv pip install -e '.[openai]' --python .venv"
    """
    return _command(*_requirement(f"[{extra}]"))


def package_command(requirement: str) -> str:
    """The shell command that installs ``requirement`` (as in ``"lupa>=2.8"``) beside DCF."""
    return _command(requirement)


def reinstall_command() -> str:
    """The shell command that writes the files of DCF anew, and nothing else."""
    return _command("--force-reinstall", "--no-deps", *_requirement(""))


def uninstall_command(name: str) -> str:
    """The shell command that removes the distribution ``name`` from this environment."""
    return _with_installer("uninstall", name)


def clone() -> Path | None:
    """The clone that this runs from, None where DCF was installed by copying its files."""
    root = _HERE.parent
    return root if (root / "pyproject.toml").is_file() else None


@cache
def installed_version() -> str:
    """The version of this DCF, as in "0.1.0"; "unknown" where it was never installed."""
    found = _distribution()
    return found.version if found else "unknown"


def _requirement(extras: str) -> tuple[str, ...]:
    """What an installer is given to install this DCF again, with ``extras`` ("[a,b]" or "")."""
    found = _distribution()
    note = json.loads((found and found.read_text("direct_url.json")) or "{}")
    folder = clone() if found is None else _editable(note)
    if folder is not None:
        # Below this folder it would need a `./`, which not every installer takes with extras.
        here = folder.samefile(Path.cwd()) if folder.is_dir() else False
        return "-e", f"{'.' if here else folder}{extras}"
    if found is not None and not note:
        # From an index, which installers do not note. The version keeps it from being upgraded.
        return (f"{DISTRIBUTION}{extras}=={found.version}",)
    return (f"{DISTRIBUTION}{extras} @ {_direct(note)}",)


def _editable(note: Mapping[str, Any]) -> Path | None:
    """The folder of an editable installation."""
    if not note.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlsplit(note["url"]).path))


def _direct(note: Mapping[str, Any]) -> str:
    """The address of a wheel, an archive, a folder or a repository, as requirements have it."""
    address = str(note.get("url", ""))
    source = note.get("vcs_info")
    if source:
        address = f"{source['vcs']}+{address}@{source['commit_id']}"
    inner = note.get("subdirectory")
    return f"{address}#subdirectory={inner}" if inner else address


def _distribution() -> Distribution | None:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return None


def _command(*what: str) -> str:
    return _with_installer("install", " ".join(map(shlex.quote, what)))


def _with_installer(action: str, given: str) -> str:
    """A command of whichever installer there is for this environment."""
    # An environment made by uv has no pip; one made by our Makefile has both, and uv is faster.
    own_uv = _own_uv().is_file()
    if _has_pip() and not own_uv:
        return f"{shlex.quote(_near(Path(sys.executable)))} -m pip {action} {given}"
    if own_uv or shutil.which("uv"):
        # uv takes the environment of the shell, which may be another one.
        return f"{_uv()} pip {action} {given} --python {_environment()}"
    # Who made this environment had a uv that this shell does not find.
    base = shlex.quote(getattr(sys, "_base_executable", None) or "python3")
    return f"{base} -m pip --python {_environment()} {action} {given}"


def _has_pip() -> bool:
    return find_spec("pip") is not None


def _own_uv() -> Path:
    return Path(sys.executable).with_name("uv")


def _uv() -> str:
    own = _own_uv()
    return shlex.quote(_near(own)) if own.is_file() else "uv"


def _environment() -> str:
    return shlex.quote(_near(Path(sys.prefix)))


def _near(path: Path) -> str:
    """``path`` as short as it can be written here: relative where it is below this folder."""
    here = Path(os.path.abspath(os.curdir))  # noqa: PTH100 - links stay what they are
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
