"""What is in a folder, in the order of names, perhaps with what is below."""

from __future__ import annotations

import os
from collections.abc import Generator
from datetime import UTC, datetime

from dcf.workspace.confined import FOLDER, Place, kind_of
from dcf.workspace.file_results import Entry

_DEEPEST = 64
Entries = Generator[Entry, None, None]


def walk(folder: int, above: str, *, recursive: bool, hidden: bool, depth: int = 0) -> Entries:
    """Every entry of the open ``folder``, whose path is ``above``; a folder before what is in it.

    Links are named and not followed. What vanishes meanwhile, or may not be read, is left out;
    so is what lies over 64 folders deep.
    """
    for name in sorted(os.listdir(folder)):
        if name.startswith(".") and not hidden:
            continue
        found = Place(folder, name).look()
        if found is None:
            continue
        entry = _entry(name, above, found)
        yield entry
        if recursive and entry.type == "directory" and depth < _DEEPEST:
            yield from _below(folder, name, entry.path, hidden, depth)


def _below(folder: int, name: str, path: str, hidden: bool, depth: int) -> Entries:
    try:
        inner = os.open(name, FOLDER, dir_fd=folder)
    except OSError:
        return
    try:
        yield from walk(inner, path, recursive=True, hidden=hidden, depth=depth + 1)
    finally:
        os.close(inner)


def _entry(name: str, above: str, found: os.stat_result) -> Entry:
    kind = kind_of(found.st_mode)
    # A name that is no UTF-8 is shown, but cannot be addressed: a path is text.
    shown = os.fsencode(name).decode("utf-8", "replace")
    return Entry(
        name=shown,
        path=f"{above}/{shown}" if above else shown,
        type=kind,
        size=found.st_size if kind == "file" else None,
        modified=datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="seconds"),
    )
