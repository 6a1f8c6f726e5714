"""The copies of a memory file that lie about: backups, and what was kept when it was replaced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dcf.cli.settings import Settings
from dcf.memory import MemoryProblem, Source

HEADER = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")


def copies_of(settings: Settings, source: Source) -> list[Path]:
    """All of them that are where DCF puts them, the newest first."""
    kept = source.path.parent.glob(f"{source.path.name}.before-*")
    files = [*(settings.home / "backups").glob("*.db"), *kept]
    whole = (file for file in files if not file.name.endswith(_BESIDE) and file.is_file())
    return sorted(whole, key=lambda file: file.stat().st_mtime, reverse=True)


def is_clear(file: Path) -> bool:
    """Whether anybody can read it: it has no key."""
    with file.open("rb") as opened:
        return opened.read(len(HEADER)) == HEADER


def opens(file: Path, source: Source) -> bool:
    """Whether the file can be read with the key that the memory has."""
    if is_clear(file):
        return source.key is None
    if source.key is None:
        return False
    try:
        replace(source, path=file).connect().close()
    except MemoryProblem:
        return False
    return True
