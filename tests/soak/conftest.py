"""A wheel of this tree, and environments that hold nothing but it and what it asks for."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
_UV = Path(sys.executable).with_name("uv")

Install = Callable[[str], "Installed"]


@dataclass(frozen=True)
class Installed:
    """An environment outside of the clone, made by uv: it has no pip."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def dcf(self) -> str:
        return str(self.folder / "bin" / "dcf")

    def environment(self, home: Path) -> dict[str, str]:
        """What a fresh user has in the environment; its programs come first."""
        temporary = home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        return {
            "PATH": f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(temporary),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


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
