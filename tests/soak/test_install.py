"""The lock files install into empty environments, with any pip that a supported Python brings, and
`make` does it with any supported Python.

A Python or a pip that is not to be had here is reported as not tried.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The oldest is that of Python 3.11.0.
PIPS = ("22.3", "23.2.1", "newest")
INSTALLING = ("Makefile", "pyproject.toml", "requirements")
BROUGHT = "23.2.1"


@pytest.fixture
def empty() -> Iterator[Path]:
    """A folder that takes its gigabyte with it, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="dcf-install-") as folder:
        yield Path(folder)


def run(*command: str | Path, folder: Path = ROOT) -> str:
    """What the command says, as in a new shell: it knows nothing of the `make` that runs us."""
    foreign = ("MAKE", "MFLAGS", "DCF_", "PYTHON", "VIRTUAL_ENV")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(foreign)
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout[-3000:]}"
    return done.stdout


def python(version: str) -> Path:
    """The command of this version, such as 3.12; from PATH or pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [*pyenv.glob(f"versions/{version}.*/bin/python"), *_on_path(f"python{version}")]
    for path in sorted(found):
        # A shim of pyenv stands on PATH for versions that are switched off.
        if subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"no Python {version} here")


def _on_path(name: str) -> Iterator[Path]:
    if (found := shutil.which(name)) is not None:
        yield Path(found)


@pytest.mark.timeout(900)
@pytest.mark.soak("requirements/run.txt", "requirements/dev.txt")
@pytest.mark.parametrize("lock", ["run", "dev"])
@pytest.mark.parametrize("pip", PIPS)
def test_pip_installs_the_lock_file_and_remarks_nothing_on_hashes(
    pip: str, lock: str, empty: Path
) -> None:
    run(python("3.11"), "-m", "venv", empty)
    own = empty / "bin/python"
    chosen = ("--upgrade", "pip") if pip == "newest" else (f"pip=={pip}",)
    run(own, "-m", "pip", "install", "--quiet", *chosen)
    said = run(own, "-m", "pip", "install", "--require-hashes", "-r", f"requirements/{lock}.txt")
    assert re.findall(r".*hash.*", said, re.IGNORECASE) == []
    assert run(own, "-m", "pip", "check").strip() == "No broken requirements found."


@pytest.mark.timeout(900)
@pytest.mark.soak(*INSTALLING)
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_make_installs_a_fresh_clone(version: str, empty: Path) -> None:
    clone = cloned(empty / "clone")
    for lock in ("run", "dev"):
        run("make", f"PYTHON={python(version)}", f".venv/.installed-{lock}", folder=clone)
    assert f"Python {version}." in run(clone / ".venv/bin/python", "--version")
    assert "Usage: dcf" in run(clone / ".venv/bin/dcf", "--help", folder=empty)


@pytest.mark.timeout(900)
@pytest.mark.soak(*INSTALLING)
def test_make_installs_a_fresh_clone_where_an_old_pip_is_brought(empty: Path) -> None:
    for version in ("3.11", "3.12"):
        brings = run(python(version), "-m", "ensurepip", "--version").split()[1]
        if brings == BROUGHT:
            break
    else:
        pytest.skip(f"no Python here brings pip {BROUGHT}")
    clone = cloned(empty / "clone")
    said = run("make", f"PYTHON={python(version)}", ".venv/.installed-run", folder=clone)
    assert "hash" not in said.replace("--require-hashes", "").lower()
    assert run(clone / ".venv/bin/python", "-m", "pip", "--version").split()[1] == BROUGHT
    assert "Usage: dcf" in run(clone / ".venv/bin/dcf", "--help", folder=empty)


def cloned(folder: Path) -> Path:
    """A clone, with the files that decide what is installed as they are here, committed or not."""
    run("git", "clone", "--quiet", ROOT, folder)
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / "requirements").iterdir()):
        if path.is_file():
            shutil.copy(path, folder / path.relative_to(ROOT))
    return folder
