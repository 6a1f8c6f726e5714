"""The command ``dcf``: it starts the command line, unless another program hides it.

On the package index the name ``dcf`` belongs to somebody else. Its package is called ``dcf`` too,
so in one environment the files of one overwrite or hide those of the other. The command therefore
begins outside of that package, where it can still say what happened.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_ENVIRONMENT = 3  # the exit code of commands for which something is missing
_FOLDERS = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class Stranger:
    """Another distribution called ``dcf`` in this environment. ``former``: it is what DCF itself
    was called before it had a name of its own."""

    version: str
    summary: str
    former: bool

    def __str__(self) -> str:
        from dcf_agents.installation import reinstall_command, uninstall_command

        what = (
            f"an older DCF ({self.version}) is installed beside this one under the name `dcf`"
            if self.former
            else f"another program called `dcf` ({self.version}, {self.summary!r}) is installed in "
            "this environment"
        )
        return (
            f"{what}, and the files of the two overwrite or hide each other. Run "
            f"`{uninstall_command('dcf')}`, then `{reinstall_command()}`."
        )


def main() -> None:
    """Run ``dcf`` with the arguments of the process and exit."""
    stranger = find_stranger(sys.path)
    if stranger is not None:
        sys.stderr.write(f"warning: {stranger}\n")
    try:
        from dcf.cli import main as run
    except ImportError as error:
        if stranger is None:
            raise
        sys.stderr.write(f"error: DCF cannot start: {error}\n")
        sys.exit(_ENVIRONMENT)
    run()


def find_stranger(search_path: Iterable[str]) -> Stranger | None:
    """Another distribution ``dcf`` in the folders of packages of ``search_path``. Costs a listing
    of them: every command pays for it."""
    for folder in search_path:
        if folder.endswith(_FOLDERS):
            for info in _called_dcf(folder):
                return _read(info)
    return None


def _called_dcf(folder: str) -> Iterator[Path]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - half the time of Path.iterdir
    except OSError:
        return
    for name in names:
        # Ours begins with `dcf_agents-`.
        if name.startswith("dcf-") and name.endswith((".dist-info", ".egg-info")):
            yield Path(folder) / name


def _read(info: Path) -> Stranger:
    """What the folder or file of metadata says. A half of one is there after a broken removal."""
    from email.parser import HeaderParser  # tens of milliseconds, where nobody is found too

    for file in (info / "METADATA", info / "PKG-INFO", info):
        if file.is_file():
            told = HeaderParser().parsestr(file.read_text(encoding="utf-8", errors="replace"))
            version, summary = str(told.get("Version", "?")), str(told.get("Summary", "?"))
            return Stranger(version, summary, "The DCF developers" in str(told.get("Author")))
    return Stranger(info.name.split("-")[1].removesuffix(".dist"), "?", False)
