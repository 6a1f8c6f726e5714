"""The file operations that agents have: everything below one folder, nothing outside of it."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from control_plane import NewToken, new_token
from dcf.workspace import file_text, file_writing
from dcf.workspace.confined import FOLDER, ConfinedRoot, Place, link_message
from dcf.workspace.errors import FileRefused
from dcf.workspace.file_listing import walk
from dcf.workspace.file_results import Content, Listing, Made, Moved, Removed, Written
from dcf.workspace.tree_removal import remove_tree

MAX_ENTRIES: Final = 10_000
DEFAULT_ENTRIES: Final = 1_000
MAX_BYTES: Final = 1024 * 1024
"""How much one call reads or writes."""
MAX_FILE: Final = 64 * 1024 * 1024
"""How large appending may make a file."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class Files:
    """The files under ``root``, which is made if it is missing.

    Paths are relative to the root (absolute ones are taken if they lie under it). Links are named
    and can be removed, but are never followed; devices, pipes and sockets are refused. Every
    operation raises FileRefused with one of the codes that its text names, or ``outside_root``,
    ``invalid_path``, or ``read_only`` for what is or holds one of ``kept``, folders that are
    not to be changed. It blocks, so an event loop calls it in a thread.
    """

    def __init__(
        self, root: Path, *, tokens: NewToken = new_token, kept: Sequence[Path] = ()
    ) -> None:
        self._root = ConfinedRoot(root)
        self._kept = [parts for parts in map(self._root.parts_of, kept) if parts is not None]
        self._tokens = tokens

    def list_directory(
        self,
        path: str = ".",
        *,
        recursive: bool = False,
        include_hidden: bool = False,
        max_entries: int | None = None,
    ) -> Listing:
        """The entries of a folder; names with a dot in front only with ``include_hidden``.
        ``path_not_found``, ``not_a_directory``, ``scan_failed``."""
        limit = min(DEFAULT_ENTRIES if max_entries is None else max(0, max_entries), MAX_ENTRIES)
        parts = self._root.parts(path)
        shown = "/".join(parts)
        with _failing("scan_failed"), self._root.place(parts) as place:
            folder = self._open_folder(place, shown or ".")
            found = walk(folder, shown, recursive=recursive, hidden=include_hidden)
            try:
                entries = tuple(itertools.islice(found, limit))
                return Listing(shown or ".", entries, next(found, None) is not None)
            finally:
                found.close()
                os.close(folder)

    def read_file(
        self, path: str, *, offset: int = 0, length: int | None = None, encoding: str = "utf-8"
    ) -> Content:
        """At most ``length`` bytes (and at most 1 MiB) from byte ``offset``, as text.
        ``path_not_found``, ``not_a_file``, ``read_failed``, ``decode_failed``,
        ``unknown_encoding``."""
        if offset < 0 or (length is not None and length < 0):
            raise FileRefused("read_failed", "offset and length are not negative")
        name, parts = file_text.check_encoding(encoding), self._parts_of_file(path)
        shown = "/".join(parts)
        with _failing("read_failed"), self._root.place(parts) as place:
            self._regular(place, shown)
            descriptor = os.open(place.name, _READ, dir_fd=place.folder)
            try:
                found = os.fstat(descriptor)
                # Not by fdopen, which refuses a folder and leaves it open.
                if not stat.S_ISREG(found.st_mode):
                    raise FileRefused("not_a_file", f"{shown!r} is no file")
            except BaseException:
                os.close(descriptor)
                raise
            with os.fdopen(descriptor, "rb") as file:
                file.seek(min(offset, found.st_size))
                data = file.read(MAX_BYTES if length is None else min(length, MAX_BYTES))
        more = offset + len(data) < found.st_size
        text, used = file_text.decode(data, name, more=more)
        if data and not used:
            raise FileRefused("decode_failed", "length is less than the first character takes")
        return Content(shown, text, used, found.st_size, offset + used < found.st_size)

    def write_file(
        self,
        path: str,
        content: str,
        *,
        append: bool = False,
        encoding: str = "utf-8",
        create_parents: bool = True,
    ) -> Written:
        """Write a file whole (a reader sees the old or the new one), or add to its end.
        ``parent_missing``, ``mkdir_failed``, ``write_failed``, ``not_a_file``, ``too_large``,
        ``unknown_encoding``."""
        data = file_text.encode(content, file_text.check_encoding(encoding))
        if len(data) > MAX_BYTES:
            raise FileRefused("too_large", f"one call writes at most {MAX_BYTES} bytes")
        parts = self._changeable(self._parts_of_file(path))
        shown = "/".join(parts)
        with (
            _failing("mkdir_failed" if create_parents else "write_failed"),
            self._root.place(parts, missing="parent_missing", make=create_parents) as place,
            _failing("write_failed"),
        ):
            self._regular(place, shown, or_nothing=True)
            if append:
                file_writing.append(place, data, MAX_FILE)
            else:
                file_writing.replace(place, data, self._beside())
        return Written(shown, len(data), "append" if append else "overwrite")

    def create_directory(self, path: str, *, parents: bool = True, exist_ok: bool = True) -> Made:
        """Make a folder. ``already_exists``, ``mkdir_failed``."""
        parts = self._changeable(self._root.parts(path), whole=False)
        shown = "/".join(parts)
        with (
            _failing("mkdir_failed"),
            self._root.place(parts, missing="mkdir_failed", make=parents) as place,
        ):
            found = place.look()
            if found is not None:
                if stat.S_ISDIR(found.st_mode) and exist_ok:
                    return Made(shown or ".", created=False)
                raise FileRefused("already_exists", f"there is something at {shown or '.'!r}")
            os.mkdir(place.name, dir_fd=place.folder)
        return Made(shown, created=True)

    def delete_path(self, path: str, *, recursive: bool = False) -> Removed:
        """Remove a file, a link, an empty folder, or with ``recursive`` a folder and all in it.
        ``path_not_found``, ``unsupported_type``, ``remove_failed``."""
        parts = self._changeable(self._parts(path, "remove_failed"))
        shown = "/".join(parts)
        with _failing("remove_failed"), self._root.place(parts) as place:
            found = place.look()
            if found is None:
                raise FileRefused("path_not_found", f"there is nothing at {shown!r}")
            if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                os.unlink(place.name, dir_fd=place.folder)
            elif not stat.S_ISDIR(found.st_mode):
                raise FileRefused("unsupported_type", f"{shown!r} is a device, pipe or socket")
            elif recursive:
                remove_tree(place, self._beside())
            else:
                os.rmdir(place.name, dir_fd=place.folder)
        return Removed(shown, removed=True)

    def move_path(
        self, source: str, destination: str, *, overwrite: bool = False, create_parents: bool = True
    ) -> Moved:
        """Give a file or folder another place; with ``overwrite`` what was there is gone.
        ``source_not_found``, ``destination_exists``, ``destination_parent_missing``,
        ``unsupported_type``, ``remove_destination_failed``, ``move_failed``."""
        here = self._changeable(self._parts(source, "move_failed"))
        there = self._changeable(self._parts(destination, "move_failed"))
        moved = Moved("/".join(here), "/".join(there))
        if there[: len(here)] == here:
            raise FileRefused("move_failed", f"{moved.destination!r} is the source or inside it")
        if here[: len(there)] == there:
            raise FileRefused("destination_exists", f"{moved.destination!r} holds the source")
        with (
            _failing("move_failed"),
            self._root.place(here, missing="source_not_found") as old,
        ):
            self._movable(old, moved.source)
            with self._root.place(
                there, missing="destination_parent_missing", make=create_parents
            ) as new:
                self._put_aside_and_move(old, new, moved.destination, overwrite)
        return moved

    def _put_aside_and_move(self, old: Place, new: Place, shown: str, overwrite: bool) -> None:
        """Rename; what stood there is removed only when its place is taken."""
        present, aside = new.look(), self._beside()
        if present is None:
            os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder)
            return
        if not overwrite:
            raise FileRefused("destination_exists", f"there is something at {shown!r}")
        with _failing("remove_destination_failed"):
            os.rename(new.name, aside, src_dir_fd=new.folder, dst_dir_fd=new.folder)
        try:
            os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder)
        except OSError:
            os.rename(aside, new.name, src_dir_fd=new.folder, dst_dir_fd=new.folder)
            raise
        with _failing("remove_destination_failed"):
            if stat.S_ISDIR(present.st_mode):
                remove_tree(Place(new.folder, aside), self._beside())
            else:
                os.unlink(aside, dir_fd=new.folder)

    def _beside(self) -> str:
        """A hidden name that nobody else uses, for what is there for a moment only."""
        return f".dcf-{self._tokens()}"

    def _parts(self, path: str, code: str) -> tuple[str, ...]:
        parts = self._root.parts(path)
        if not parts:
            raise FileRefused(code, "that is the root itself, which stays where it is")
        return parts

    def _changeable(self, parts: tuple[str, ...], *, whole: bool = True) -> tuple[str, ...]:
        """``parts``, if the place may be changed; ``whole``: with all that is in it. File systems
        may take letters for the same that differ in case."""
        same = [part.casefold() for part in parts]
        for kept in self._kept:
            inside = same[: len(kept)] == kept
            if inside or (whole and kept[: len(same)] == same):
                raise FileRefused("read_only", f"{'/'.join(parts)!r} is or holds what is kept")
        return parts

    def _parts_of_file(self, path: str) -> tuple[str, ...]:
        parts = self._root.parts(path)
        if not parts or path.endswith("/"):
            raise FileRefused("not_a_file", f"{path!r} is a folder")
        return parts

    @staticmethod
    def _open_folder(place: Place, shown: str) -> int:
        """The folder at ``place``, open; the caller closes it."""
        found = place.look()
        if found is None:
            raise FileRefused("path_not_found", f"there is nothing at {shown!r}")
        if stat.S_ISLNK(found.st_mode):
            raise FileRefused("outside_root", link_message(shown))
        if not stat.S_ISDIR(found.st_mode):
            raise FileRefused("not_a_directory", f"{shown!r} is no folder")
        return os.open(place.name or ".", FOLDER, dir_fd=place.folder)

    @staticmethod
    def _regular(place: Place, shown: str, *, or_nothing: bool = False) -> None:
        """Raises FileRefused unless there is a regular file. It is looked at before it is opened:
        opening alone can already do something to a device."""
        found = place.look()
        if found is None:
            if or_nothing:
                return
            raise FileRefused("path_not_found", f"there is nothing at {shown!r}")
        if stat.S_ISLNK(found.st_mode):
            raise FileRefused("outside_root", link_message(shown))
        if not stat.S_ISREG(found.st_mode):
            raise FileRefused("not_a_file", f"{shown!r} is no file")

    @staticmethod
    def _movable(place: Place, shown: str) -> None:
        found = place.look()
        if found is None:
            raise FileRefused("source_not_found", f"there is nothing at {shown!r}")
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise FileRefused("unsupported_type", f"{shown!r} is neither a file nor a folder")


@contextmanager
def _failing(code: str) -> Iterator[None]:
    """What the system refuses, under ``code``."""
    try:
        yield
    except OSError as error:
        raise FileRefused(code, error.strerror or type(error).__name__) from error
