"""Reaching a place under a root without ever leaving it.

A path is taken apart here and walked one folder at a time, each opened relative to the one before
and never through a link (``openat`` with ``O_NOFOLLOW``). So a link that is put in place between
check and use leads nowhere, whoever puts it there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dcf.workspace.errors import FileRefused
from dcf.workspace.file_results import EntryType

MAX_PATH: Final = 4096
MAX_DEPTH: Final = 64
_NO_FOLDER: Final = (errno.ENOTDIR, errno.ELOOP)
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an open folder. ``name`` is empty for the root itself, which is ``folder``."""

    folder: int
    name: str

    def look(self) -> os.stat_result | None:
        """What is there, links not followed; None when nothing is."""
        try:
            if not self.name:
                return os.fstat(self.folder)
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None


class ConfinedRoot:
    """The folder ``root`` (made if it is missing) as all that there is."""

    def __init__(self, root: Path) -> None:
        # Not resolved: an absolute path may name the root as its owner does.
        self._given = Path.cwd() / root
        self._given.mkdir(parents=True, exist_ok=True)
        self._real = self._given.resolve(strict=True)

    def parts(self, path: str) -> tuple[str, ...]:
        """The names that ``path`` leads through, from the root. An absolute path must lie under
        the root. Raises FileRefused ``outside_root``, ``invalid_path``.

        Links are not asked: none is followed, so ``..`` can be resolved by name.
        """
        self._check_text(path)
        relative = self._relative(path)
        parts: list[str] = []
        for name in relative.split("/"):
            if name == "..":
                if not parts:
                    raise FileRefused("outside_root", f"{path!r} lies outside of the root")
                parts.pop()
            elif name not in ("", "."):
                parts.append(name)
        if len(parts) > MAX_DEPTH:
            raise FileRefused("invalid_path", f"it leads over {MAX_DEPTH} folders deep")
        return tuple(parts)

    def parts_of(self, folder: Path) -> list[str] | None:
        """The names that lead to ``folder``, in small letters; None when it is not in the root."""
        try:
            return [part.casefold() for part in folder.resolve().relative_to(self._real).parts]
        except ValueError:
            return None

    @contextmanager
    def place(
        self, parts: Sequence[str], *, missing: str = "path_not_found", make: bool = False
    ) -> Iterator[Place]:
        """The place that ``parts`` lead to, its folder held open meanwhile.

        Folders on the way that are not there are made with ``make``; otherwise FileRefused with
        the code ``missing``. A link on the way is ``outside_root``, another file
        ``not_a_directory``. Raises OSError where a folder cannot be opened or made.
        """
        folder = os.open(self._real, FOLDER)
        try:
            for depth, name in enumerate(parts[:-1]):
                inner = self._enter(folder, name, "/".join(parts[: depth + 1]), missing, make)
                os.close(folder)
                folder = inner
            yield Place(folder, parts[-1] if parts else "")
        finally:
            os.close(folder)

    def _enter(self, folder: int, name: str, shown: str, missing: str, make: bool) -> int:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
            return os.open(name, FOLDER, dir_fd=folder)
        except FileNotFoundError as error:
            raise FileRefused(missing, f"there is no folder {shown!r}") from error
        except OSError as error:
            found = Place(folder, name).look()
            if found is not None and stat.S_ISLNK(found.st_mode):
                raise FileRefused("outside_root", link_message(shown)) from error
            if error.errno in _NO_FOLDER:
                # A folder by now: what was there a moment ago was a file or a link.
                raise FileRefused("not_a_directory", f"{shown!r} is no folder") from error
            raise

    def _check_text(self, path: str) -> None:
        if "\0" in path:
            raise FileRefused("invalid_path", "a path holds no NUL")
        if len(path) > MAX_PATH:
            raise FileRefused("invalid_path", f"a path has at most {MAX_PATH} characters")
        try:
            path.encode()
        except UnicodeEncodeError as error:
            raise FileRefused("invalid_path", "it has half of a surrogate pair") from error

    def _relative(self, path: str) -> str:
        if not path.startswith("/"):
            return path
        for root in (self._given, self._real):
            if path == str(root) or path.startswith(f"{root}/"):
                return path[len(str(root)) :]
        raise FileRefused("outside_root", f"{path!r} lies outside of the root")


def link_message(shown: str) -> str:
    """Why a link is not followed."""
    return f"{shown!r} is a symbolic link: links are not followed, they could lead outside"


def kind_of(mode: int) -> EntryType:
    """``file``, ``directory``, ``symlink`` or ``other``."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "symlink" if stat.S_ISLNK(mode) else "other"
