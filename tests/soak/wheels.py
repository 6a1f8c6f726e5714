"""What is installed from a wheel of this tree, and when its tests run again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

Install = Callable[[str], "Installed"]

of_the_wheel = [
    pytest.mark.timeout(900),
    pytest.mark.soak(
        "Makefile",
        "pyproject.toml",
        "requirements",
        "dcf_agents",
        "tests/soak/conftest.py",
        "tests/soak/lonely.py",
        "tests/soak/wheels.py",
        product=("control_plane", "dcf", "docs", "generated", "prompts", "skills_src", "workflows"),
    ),
]


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
