"""Lines of a project's file, by their numbers."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dcf.code.errors import UnshownFile
from dcf.code.files import checked_root, listed, read, written_by_people
from dcf.code.piece import shown

_RELATIVE = "name it as `dcf retrieval code` does: below the project's folder, with /"
_LINK = frozenset({errno.ELOOP, errno.ENOTDIR})


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``lines`` without their ends; ``first_line`` is the number of the first one, from 1."""

    path: str
    first_line: int
    lines: tuple[str, ...]


async def excerpt_of(root: Path, path: str, first: int, last: int) -> Excerpt:
    """The lines ``first`` to ``last`` (from 1, both included; those that the file has) of the file
    at ``path`` below ``root``, without secrets. Only what a search of the folder can find is
    shown.

    Raises ``UnshownFile`` for a path that leads out of the folder or over a link, a file that is
    gone, ignored by git, hidden or no text, and lines that it does not have; ``RootMissing``,
    ``RipgrepMissing``, ``RipgrepFailed``, ``TooManyFiles``.
    """
    if path.startswith("/") or {"", ".", ".."} & set(path.split("/")):
        reason = "it is no path inside of the project's folder"
        raise UnshownFile(path=path, reason=reason, hint=_RELATIVE)
    root = checked_root(root)
    data = await asyncio.to_thread(_data, root, path)
    if path not in (await listed(root)).paths:
        reason = "git ignores it, or its name begins with a dot"
        raise UnshownFile(path=path, reason=reason, hint="such files are not searched either")
    text = await asyncio.to_thread(_told, path, data)
    lines = text.removesuffix("\n").split("\n")
    if first > len(lines):
        reason = f"it ends at line {len(lines):,}, before line {first:,}"
        hint = "it has changed since it was cited: `dcf retrieval code` finds where it says so now"
        raise UnshownFile(path=path, reason=reason, hint=hint)
    return Excerpt(path, first, tuple(line.removesuffix("\r") for line in lines[first - 1 : last]))


async def searched(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Those of ``paths`` below ``root`` that a search of the folder can find. Raises
    ``RootMissing``, ``RipgrepMissing``, ``RipgrepFailed``, ``TooManyFiles``."""
    root = checked_root(root)
    there = (await listed(root)).paths

    def found() -> tuple[str, ...]:
        named = frozenset(written_by_people(root, there))
        return tuple(one for one in paths if one in named and _is_text(root, one))

    return await asyncio.to_thread(found)


def _is_text(root: Path, path: str) -> bool:
    try:
        _data(root, path)
    except UnshownFile:
        return False
    return True


def _told(path: str, data: bytes) -> str:
    # Coding agents run `dcf open` too, and what it prints is sent to their models.
    return shown(path, data.decode("utf-8", "replace"))


def _data(root: Path, path: str) -> bytes:
    try:
        source = read(root, path, None)
    except OSError as error:
        if error.errno in _LINK:
            reason = "there is a link, or a file in place of a folder, on the way to it"
            hint = "links are not followed; name the file where it really is"
            raise UnshownFile(path=path, reason=reason, hint=hint) from error
        reason = error.strerror or type(error).__name__
        hint = f"it is looked for below {root}; `dcf open` is to be run inside of the project"
        raise UnshownFile(path=path, reason=reason, hint=hint) from error
    assert source is not None
    if source.data is None:
        problem = source.problem
        reason = problem.message if problem else "it is binary"
        hint = problem.hint if problem else ""
        raise UnshownFile(path=path, reason=reason, hint=hint or "open it with a program for it")
    return source.data
