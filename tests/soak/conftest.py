"""A wheel of this tree, and environments that hold nothing but it and what it asks for."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from wheels import REPOSITORY, Install, Installed

_UV = Path(sys.executable).with_name("uv")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    [file] = folder.glob("dcf_agents-*.whl")
    return file


@pytest.fixture(scope="session")
def install(wheel: Path) -> Iterator[Install]:
    """Installs the wheel with extras ("" or "[a,b]"), pinned as developers have them; once for
    each."""
    made: dict[str, Installed] = {}
    with tempfile.TemporaryDirectory(prefix="dcf-soak-", dir="/tmp") as folder:

        def install(extras: str) -> Installed:
            if extras not in made:
                there = Path(folder, f"env{len(made)}")
                subprocess.run([_UV, "venv", "-q", "-p", sys.executable, there], check=True)
                asked = f"dcf-agents{extras} @ {wheel.as_uri()}"
                pins = REPOSITORY / "requirements" / "dev.txt"
                subprocess.run(
                    [_UV, "pip", "install", "-q", "-p", there, "-c", pins, asked], check=True
                )
                made[extras] = Installed(there)
            return made[extras]

        yield install
