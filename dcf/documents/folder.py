"""Which files of a folder are documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from dcf.code import listed
from dcf.documents.format import format_of


async def documents_in(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths, relative to ``folder``, of its documents, and of its other files; both without
    what git ignores, hidden files and links. Raises a CodeProblem."""
    found = (await listed(folder)).paths
    known = tuple(path for path in found if format_of(path) is not None)
    return known, tuple(path for path in found if format_of(path) is None)


def links_out_of(folder: Path, paths: Iterable[str]) -> Iterator[str]:
    """Links beside the files at ``paths`` whose target is not below ``folder``."""
    beside = {"."} | {str(above) for path in paths for above in PurePosixPath(path).parents}
    for one in sorted(beside):
        with os.scandir(folder / one) as entries:
            names = sorted(entry.name for entry in entries if entry.is_symlink())
        for name in names:
            link = folder / one / name
            if not _is_below(link, folder):
                yield str(PurePosixPath(one, name))


def _is_below(link: Path, folder: Path) -> bool:
    try:
        return link.resolve().is_relative_to(folder)
    except (OSError, RuntimeError):
        # Links in a circle lead nowhere.
        return False
